// Writes of a former leader that may still arrive. It ended without giving its Lease back, so a write of it may be under way,
// for as long as what carries it pleases: a block that it gives must not go to another object meanwhile. Each of its writes is
// bound to the state of an object that lacks a block. So each such object is written once, without a block, before anything is
// given out: what arrives later meets another state.
import { type Result, WorkQueue } from '../../runtime/work-queue.ts';
import type { AllocatorPorts } from './block-allocator.ts';
import type { BlockHolders, Holder } from './block-holders.ts';

/** The allocator that gives out nothing meanwhile. */
export interface FormerWritesOwner {
  /** The newest state of an object; undefined once it is gone. */
  holderOf(uid: string): Holder | undefined;
  /** Whether an object may be written now. */
  mayWrite(): boolean;
  /** A write may have been the last one. */
  noteFormerEnded(): void;
}

/** Between two tries of one object, in ms. */
const retryPeriod = 1000;
/** An object that cannot be written is waited for so long, in ms: the API server ends each request within a minute by default. */
const longestWait = 65_000;

export class FormerWrites {
  readonly #owner: FormerWritesOwner;
  readonly #holders: Pick<BlockHolders, 'supersede' | 'read'>;
  readonly #clock: AllocatorPorts['clock'];
  /** The states that a write may be bound to, by uid. */
  readonly #left = new Map<string, Holder>();
  readonly #queue: WorkQueue<string>;
  #cancelEnd: () => void = () => undefined;

  constructor(
    owner: FormerWritesOwner,
    holders: Pick<BlockHolders, 'supersede' | 'read'>,
    { clock, onBug, workers }: Pick<AllocatorPorts, 'clock' | 'onBug' | 'workers'>,
  ) {
    this.#owner = owner;
    this.#holders = holders;
    this.#clock = clock;
    this.#queue = new WorkQueue<string>({
      clock,
      onBug,
      workers,
      mayStart: () => owner.mayWrite(),
      reconcile: (uid) => this.#supersede(uid),
      retryAfter: () => retryPeriod,
    });
  }

  /** Whether a write of the former leader may still take effect. */
  get mayArrive(): boolean {
    return this.#left.size > 0;
  }

  /** `holders`: all that lack a block. */
  begin(holders: Iterable<Holder>): void {
    for (const holder of holders) this.#left.set(holder.uid, holder);
    for (const uid of this.#left.keys()) this.#queue.add(uid);
    if (!this.mayArrive) return;
    this.#cancelEnd = this.#clock.schedule(longestWait, () => {
      for (const uid of this.#left.keys()) this.#drop(uid);
      this.#owner.noteFormerEnded();
    });
  }

  /** Starts what may be written now, and tells whether a write of the former leader may still take effect. */
  advance(): 'ended' | 'mayArrive' {
    if (!this.mayArrive) return 'ended';
    for (const [uid, { version }] of this.#left)
      if (this.#owner.holderOf(uid)?.version !== version) this.#drop(uid);
    this.#queue.serve();
    return this.mayArrive ? 'mayArrive' : 'ended';
  }

  stop(deadline: AbortSignal): Promise<void> {
    this.#cancelEnd();
    return this.#queue.stop(deadline);
  }

  #drop(uid: string): void {
    this.#left.delete(uid);
    this.#queue.forget(uid);
  }

  async #supersede(uid: string): Promise<Result> {
    const holder = this.#left.get(uid);
    if (holder !== undefined && !(await this.#isOver(holder))) return { requeueAfter: retryPeriod };
    this.#left.delete(uid);
    this.#owner.noteFormerEnded();
    return {};
  }

  async #isOver(holder: Holder): Promise<boolean> {
    const { deadline } = this.#queue;
    const outcome = await this.#holders.supersede(holder, deadline);
    if (outcome.kind === 'written' || outcome.kind === 'gone') return true;
    if (outcome.kind !== 'conflict' && outcome.kind !== 'unavailable') return false;
    const reading = await this.#holders.read(holder.name, deadline);
    if (reading.kind !== 'found') return reading.kind === 'gone';
    return this.#owner.holderOf(holder.uid)?.version !== holder.version;
  }
}
