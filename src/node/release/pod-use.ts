// The last look before something is taken from a node: an agent that lost its state may give up an address that a running pod
// shows. Such an address counts as used until its pod is gone. Where pods cannot be read, every address does.
import type { PodReading, ShownPod } from '../../kubernetes/watch/shown-pods.ts';
import { Backoff, type BackoffDeps } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Reads what the pods of the node show; undefined if the word of the agent is enough. */
export type ReadPods = ((signal: AbortSignal) => Promise<PodReading>) | undefined;

/** For how long a look holds, from its answer, in ms: hiding an address and the call after it share one, in most cases. */
const validity = 10_000;
/** Between two looks while pods keep something, or cannot be read, in ms. */
const lookAgain = { base: 20_000, cap: 300_000 };
/** Failures in a row after which nothing that is hidden waits for the next look any longer. */
const patience = 3;

const nothing: ReadonlyMap<string, string> = new Map();

export class PodUse {
  readonly #readPods: ReadPods;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Pods by the addresses that they keep. */
  #kept: ReadonlyMap<string, string> = nothing;
  /** The last look: its addresses, and when it was answered, in monotonic ms. */
  #looked: { readonly at: number; readonly addresses: ReadonlySet<string> } | undefined;
  #looking: Promise<void> | undefined;
  #problem: string | undefined;
  /** Whether pods cannot be read, for all that is known. */
  #isBlind = false;
  /** Looks in a row that found addresses kept by pods. */
  readonly #keptLooks: Backoff;
  /** Looks in a row that failed. */
  readonly #failedLooks: Backoff;

  constructor(read: ReadPods, runtime: BackoffDeps) {
    this.#readPods = read;
    this.#clock = runtime.clock;
    this.#keptLooks = new Backoff(lookAgain, runtime);
    this.#failedLooks = new Backoff(lookAgain, runtime);
  }

  /** Whether the address has to stay because of a pod. */
  keeps(address: string): boolean {
    return this.#isBlind || this.#kept.has(address);
  }

  /** Addresses that running pods keep, sorted. */
  get kept(): readonly ShownPod[] {
    if (this.#kept.size === 0) return [];
    const kept = Array.from(this.#kept, ([address, pod]) => ({ address, pod }));
    return kept.toSorted((a, b) => (a.pod + a.address < b.pod + b.address ? -1 : 1));
  }

  /** Why pods cannot be read, once everything stays because of that. */
  get problem(): string | undefined {
    return this.#isBlind ? this.#problem : undefined;
  }

  /** Whether pods were just looked at for all of these. */
  isLookedAt(addresses: readonly string[]): boolean {
    if (this.#readPods === undefined) return true;
    const looked = this.#looked;
    if (looked === undefined || this.#clock.monotonic() >= looked.at + validity) return false;
    return addresses.every((address) => looked.addresses.has(address));
  }

  /** When pods are looked at again although nothing leaves, in monotonic ms; Infinity for never. */
  get lookDue(): number {
    if (this.#problem !== undefined) return this.#failedLooks.until;
    return this.#kept.size > 0 ? this.#keptLooks.until : Infinity;
  }

  /** Whether a look that failed is about to be repeated. */
  get isPausing(): boolean {
    return this.#failedLooks.isPausing;
  }

  /**
   * Looks at the pods, unless that was just done for all of these addresses. False if pods cannot be read. Rejects only with the
   * signal's reason.
   */
  async look(addresses: readonly string[], signal: AbortSignal): Promise<boolean> {
    if (!this.isLookedAt(addresses)) await this.#read(addresses, signal);
    return this.isLookedAt(addresses);
  }

  /** Looks at the pods for what they keep, however late the last look was. */
  lookAgain(signal: AbortSignal): Promise<void> {
    return this.#read([], signal);
  }

  /** Callers that ask during a read share it. */
  #read(addresses: readonly string[], signal: AbortSignal): Promise<void> {
    const read = this.#readPods;
    if (read === undefined) return Promise.resolve();
    this.#looking ??= this.#look(addresses, read(signal)).finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Forgets what no longer has to be kept because of a pod: it left the node, or its agent counts it again. */
  keepOnly(isConcerned: (address: string) => boolean): void {
    if (this.#kept.size === 0) return;
    this.#kept = new Map([...this.#kept].filter(([address]) => isConcerned(address)));
    if (this.#kept.size === 0) this.#keptLooks.forget();
  }

  async #look(addresses: readonly string[], reading: Promise<PodReading>): Promise<void> {
    const found = await reading;
    if (found.kind === 'unreadable') {
      this.#problem = found.problem;
      this.#failedLooks.fail();
      this.#isBlind ||= found.isDenied || this.#failedLooks.failures >= patience;
      return;
    }
    this.#failedLooks.forget();
    this.#problem = undefined;
    this.#isBlind = false;
    const asked = new Set([...addresses, ...this.#kept.keys()]);
    const before = this.#kept.size;
    const kept = found.shown.filter(({ address }) => asked.has(address));
    this.#kept = kept.length === 0 ? nothing : new Map(kept.map(({ address, pod }) => [address, pod]));
    this.#looked = { at: this.#clock.monotonic(), addresses: asked };
    if (this.#kept.size === 0) this.#keptLooks.forget();
    else if (before === 0 || !this.#keptLooks.isPausing) this.#keptLooks.fail();
  }
}
