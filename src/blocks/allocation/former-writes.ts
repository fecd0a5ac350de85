// What a former leader may still write. It ended without giving its Lease back, so a write of it may be under way, for as long as
// what carries it pleases: a block that it gives must not go to another object meanwhile. Each of its writes is bound to the
// state of an object that lacks a block. So each such object is written once, without a block, before anything is given out:
// what arrives later meets another state.
import type { TaskGroup } from '../../runtime/task-group.ts';
import type { BlockHolders, Holder } from './block-holders.ts';

export interface FormerWritesDeps {
  readonly holders: Pick<BlockHolders, 'supersede' | 'read'>;
  readonly tasks: TaskGroup;
  /** Writes in flight. */
  readonly workers: number;
  /** The newest state of an object; undefined once it is gone. */
  readonly current: (uid: string) => Holder | undefined;
  /** Called when the next write may start, or all have ended. */
  readonly onProgress: () => void;
}

/** Between two tries of one object, in ms. */
const retryPeriod = 1000;
/** An object that cannot be written is waited for so long, in ms: the API server ends each request within a minute by default. */
const longestWait = 65_000;

export class FormerWrites {
  readonly #deps: FormerWritesDeps;
  /** By uid: the state that a write may be bound to. */
  readonly #left = new Map<string, Holder>();
  readonly #busy = new Set<string>();

  constructor(deps: FormerWritesDeps) {
    this.#deps = deps;
  }

  /** Whether a write of the former leader may still take effect. */
  get mayArrive(): boolean {
    return this.#left.size > 0;
  }

  /** `holders`: all that lack a block. Nothing is written before `advance`. */
  begin(holders: Iterable<Holder>): void {
    for (const holder of holders) this.#left.set(holder.uid, holder);
    if (!this.mayArrive) return;
    this.#deps.tasks.later(longestWait, () => {
      this.#left.clear();
      this.#deps.onProgress();
    });
  }

  /** Starts what may be written now, and tells whether a write of the former leader may still take effect. */
  advance(): 'ended' | 'mayArrive' {
    const { current, tasks, workers } = this.#deps;
    for (const [uid, { version }] of this.#left) {
      if (this.#busy.size >= workers) break;
      const holder = current(uid);
      if (holder?.version !== version) this.#left.delete(uid);
      else if (!this.#busy.has(uid)) tasks.beginTask(() => this.#supersede(holder));
    }
    return this.mayArrive ? 'mayArrive' : 'ended';
  }

  async #supersede(holder: Holder): Promise<void> {
    this.#busy.add(holder.uid);
    const isOver = await this.#isOver(holder).catch((error: unknown) => {
      this.#busy.delete(holder.uid);
      throw error;
    });
    const goOn = (): void => {
      this.#busy.delete(holder.uid);
      this.#deps.onProgress();
    };
    if (!isOver) {
      this.#deps.tasks.later(retryPeriod, goOn);
      return;
    }
    this.#left.delete(holder.uid);
    goOn();
  }

  async #isOver(holder: Holder): Promise<boolean> {
    const { holders, tasks, current } = this.#deps;
    const outcome = await holders.supersede(holder, tasks.deadline);
    if (outcome.kind === 'written' || outcome.kind === 'gone') return true;
    if (outcome.kind !== 'conflict' && outcome.kind !== 'unavailable') return false;
    const reading = await holders.read(holder.name, tasks.deadline);
    if (reading.kind !== 'found') return reading.kind === 'gone';
    return current(holder.uid)?.version !== holder.version;
  }
}
