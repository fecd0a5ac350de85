// Decides what the next call that unassigns may name, by what the cloud refused before. A refused call is split until the
// refusal is about one holding, so that one never keeps the others. What is refused for good is offered again, and after a
// pause that grows one call tries the one that has waited longest: a cloud that refuses everything gets one call a pause.
import type { Clock } from '../../runtime/clock.ts';
import { Backoff, type BackoffDeps } from '../../runtime/backoff.ts';
import { LazyMap, LazySet } from '../../runtime/lazy-collections.ts';
import type { Holding } from '../demand/holdings.ts';
import { isPrefix } from './unassignments.ts';

/** In ms: after what an agent or the cloud refuses for good. */
export const refusalPolicy = { base: 180_000, cap: 3_600_000 };

/** How often a node to which releases are denied looks whether another one was granted some, in ms. It costs no call. */
const lookAgain = 60_000;

const none: ReadonlySet<string> = new Set();

/** Tells nodes to which releases are denied that one of them was granted: none waits for the end of its own pause then. */
export class GrantedReleases {
  #count = 0;

  /** How many grants followed a denial. A node that was denied before the last one may try again. */
  get count(): number {
    return this.#count;
  }

  /** A release of a node was carried out that had been denied. */
  granted(): void {
    this.#count++;
  }
}

export class ReleaseTurns {
  /** Ids of the holdings that the cloud refuses, longest ago first. */
  readonly #refused = new LazySet<string>();
  /** Whether the last refusal was about one holding, so that each is tried alone. */
  #areAlone = false;
  readonly #pause: Backoff;
  /** The most that a call names, by interface: half of what was refused last. */
  readonly #most = new LazyMap<string, number>();
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #granted: GrantedReleases;
  /** If the last refusal was a denial, how many grants there had been. */
  #grantsBefore: number | undefined;

  constructor(granted: GrantedReleases, runtime: BackoffDeps) {
    this.#granted = granted;
    this.#clock = runtime.clock;
    this.#pause = new Backoff(refusalPolicy, runtime);
  }

  /** When refused holdings may be tried again, in monotonic ms. It may have passed. */
  get until(): number {
    const { until } = this.#pause;
    if (this.#grantsBefore === undefined || !this.#isPausing) return until;
    return Math.min(until, this.#clock.monotonic() + lookAgain);
  }

  /** Ids of the holdings that no call names now. */
  get pausing(): ReadonlySet<string> {
    return this.#isPausing ? new Set(this.#refused) : none;
  }

  get #isPausing(): boolean {
    const isGranted = this.#grantsBefore !== undefined && this.#grantsBefore < this.#granted.count;
    return this.#pause.isPausing && !isGranted;
  }

  /** Whether calls go one at a time: where one changes the whole instance, a refusal is about all that go together. */
  get areSingle(): boolean {
    return this.#refused.size + this.#most.size > 0;
  }

  /** Holdings that calls may name now: those never refused, then those refused, longest ago first. */
  inOrder(due: readonly Holding[]): readonly Holding[] {
    if (this.#refused.size === 0) return due;
    const order = [...this.#refused];
    const { pausing } = this;
    return due
      .filter(({ id }) => !pausing.has(id))
      .toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  }

  /** The holdings that the next call names of these, which are in order and on one interface: prefixes or single addresses. */
  next(due: readonly Holding[]): readonly Holding[] {
    const [first] = due;
    const isAlone = ({ id }: Holding): boolean => this.#areAlone && this.#refused.has(id);
    if (first === undefined || isAlone(first)) return due.slice(0, 1);
    const alike = due.filter((each) => isPrefix(each) === isPrefix(first) && !isAlone(each));
    return alike.slice(0, this.#most.get(first.interfaceId));
  }

  /** A refusal may be about one of several that a call named. */
  split(interfaceId: string, named: readonly Holding[]): void {
    this.#most.set(interfaceId, Math.ceil(named.length / 2));
  }

  /** Nothing is due on the interface any more. */
  endSplit(interfaceId: string): void {
    this.#most.delete(interfaceId);
  }

  /** Nothing leaves any others: the node needs it again, or they are gone. */
  endSplitsBut(interfaceIds: ReadonlySet<string>): void {
    for (const id of this.#most.keys()) if (!interfaceIds.has(id)) this.#most.delete(id);
  }

  /** The cloud refuses these for good, and perhaps others as well. `isDenial`: for want of a permission. */
  refuse(named: readonly Holding[], others: readonly Holding[], isDenial: boolean): void {
    this.#areAlone = others.length === 0;
    this.#grantsBefore = isDenial ? this.#granted.count : undefined;
    for (const { id } of named) this.#refused.delete(id);
    for (const { id } of [...others.filter((each) => !named.includes(each)), ...named]) this.#refused.add(id);
    if (!this.#pause.isPausing) this.#pause.fail();
  }

  /** The cloud took these. If it had refused one of them, it may take the others as well. */
  take(named: readonly Holding[]): void {
    if (!named.some(({ id }) => this.#refused.has(id))) return;
    if (this.#grantsBefore !== undefined) this.#granted.granted();
    this.keepOnly(none);
  }

  /** The instance has nothing else any more. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#refused) if (!ids.has(id)) this.#refused.delete(id);
    if (this.#refused.size > 0) return;
    this.#pause.forget();
    this.#grantsBefore = undefined;
  }
}
