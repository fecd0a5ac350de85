// The last look before blocks of a CiliumNode that is gone may go to other nodes: at the pods of its node, again and again while
// they have addresses of them.
import type { PodReads } from '../../kubernetes/watch/shown-pods.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { TaskGroup } from '../../runtime/task-group.ts';
import type { AllocatorPorts } from '../allocation/block-allocator.ts';
import type { BlockLedger } from '../allocation/block-ledger.ts';
import { LeftHoldings, type LeftObject } from '../allocation/left-holdings.ts';
import { addressCidr, type Cidr } from '../set/cidr.ts';

export type LeftBlocksEvent =
  /** It is known now what pods of that node use. */
  | { readonly kind: 'looked'; readonly name: string }
  /** Blocks are free. `others`: uids of those that hold any part of them. */
  | { readonly kind: 'freed'; readonly others: readonly string[] }
  | { readonly kind: 'inUse'; readonly name: string; readonly blocks: readonly Cidr[] }
  /** Pods may not be read: blocks are free without a look. */
  | { readonly kind: 'denied'; readonly problem: string };

export interface LeftBlocksDeps extends Pick<AllocatorPorts, 'clock' | 'onBug' | 'random'> {
  readonly ledger: BlockLedger;
  readonly pods: PodReads;
  readonly emit: (event: LeftBlocksEvent) => void;
}

/** Between two looks at one node, in ms. */
const lookAgain = { base: 10_000, cap: 300_000 };
/** Looks at once: many nodes may be deleted together. */
const maxLooks = 10;

interface Look {
  readonly left: LeftObject;
  readonly pause: Backoff;
}

export class LeftBlocks {
  readonly holdings: LeftHoldings;
  readonly #deps: LeftBlocksDeps;
  readonly #tasks: TaskGroup;
  readonly #waiting = new Set<Look>();
  #looking = 0;

  constructor(deps: LeftBlocksDeps) {
    this.#deps = deps;
    this.#tasks = new TaskGroup(deps);
    this.holdings = new LeftHoldings(deps.ledger, (left) => {
      this.#waiting.add({ left, pause: new Backoff(lookAgain, deps) });
      this.#advance();
    });
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.#tasks.stop(deadline);
  }

  #advance(): void {
    for (const look of this.#waiting) {
      if (this.#looking >= maxLooks) return;
      this.#waiting.delete(look);
      if (!this.holdings.has(look.left)) continue;
      this.#looking++;
      this.#tasks.beginTask(async () => {
        try {
          await this.#look(look);
        } finally {
          this.#looking--;
          this.#advance();
        }
      });
    }
  }

  async #look(look: Look): Promise<void> {
    const { pods, emit } = this.#deps;
    const { left, pause } = look;
    const reading = await pods.on(left.name, this.#tasks.closing);
    if (reading.kind === 'read')
      this.#take(
        left,
        reading.shown.flatMap(({ address }) => addressCidr(address) ?? []),
      );
    else if (reading.isDenied) {
      emit({ kind: 'denied', problem: reading.problem });
      this.#take(left, []);
    }
    if (!this.holdings.has(left)) return;
    this.#tasks.later(pause.fail(), () => {
      this.#waiting.add(look);
      this.#advance();
    });
  }

  #take(left: LeftObject, addresses: readonly Cidr[]): void {
    const { emit } = this.#deps;
    const { firstUsed, isFirst, freed, others } = this.holdings.lookedAt(left, addresses);
    if (firstUsed.length > 0) emit({ kind: 'inUse', name: left.name, blocks: firstUsed });
    if (freed.length > 0) emit({ kind: 'freed', others });
    if (isFirst) emit({ kind: 'looked', name: left.name });
  }
}
