// The last look before blocks of a CiliumNode that is gone may go to other nodes: at the pods of its node, again and again while
// they have addresses of them.
import type { PodReads } from '../../kubernetes/watch/shown-pods.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { ProcessPorts } from '../../runtime/process-ports.ts';
import { type Result, WorkQueue } from '../../runtime/work-queue.ts';
import type { BlockLedger } from '../allocation/block-ledger.ts';
import { LeftHoldings, type LeftObject } from '../allocation/left-holdings.ts';
import { addressCidr, type Cidr } from '../set/cidr.ts';

export type LeftBlocksEvent =
  /** The addresses that pods of that node use are known now. */
  | { readonly kind: 'looked'; readonly name: string }
  /** Blocks are free. `others`: uids of those that hold any part of them. */
  | { readonly kind: 'freed'; readonly others: readonly string[] }
  | { readonly kind: 'inUse'; readonly name: string; readonly blocks: readonly Cidr[] }
  /** Pods may not be read: blocks are free without a look. */
  | { readonly kind: 'denied'; readonly problem: string };

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
  readonly #pods: PodReads;
  readonly #emit: (event: LeftBlocksEvent) => void;
  readonly #queue: WorkQueue<Look>;

  constructor(
    ports: ProcessPorts,
    ledger: BlockLedger,
    pods: PodReads,
    emit: (event: LeftBlocksEvent) => void,
  ) {
    this.#pods = pods;
    this.#emit = emit;
    const { clock, onBug } = ports;
    this.#queue = new WorkQueue<Look>({
      clock,
      onBug,
      workers: maxLooks,
      reconcile: (look) => this.#look(look),
      retryAfter: ({ pause }) => pause.fail(),
    });
    this.holdings = new LeftHoldings(ledger, (left) =>
      this.#queue.add({ left, pause: new Backoff(lookAgain, ports) }),
    );
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#queue.stop(deadline);
  }

  async #look({ left, pause }: Look): Promise<Result> {
    if (!this.holdings.has(left)) return {};
    const reading = await this.#pods.on(left.name, this.#queue.closing);
    if (reading.kind === 'read')
      this.#take(
        left,
        reading.shown.flatMap(({ address }) => addressCidr(address) ?? []),
      );
    else if (reading.isDenied) {
      this.#emit({ kind: 'denied', problem: reading.problem });
      this.#take(left, []);
    }
    return this.holdings.has(left) ? { requeueAfter: pause.fail() } : {};
  }

  #take(left: LeftObject, addresses: readonly Cidr[]): void {
    const { firstUsed, isFirst, freed, others } = this.holdings.lookedAt(left, addresses);
    if (firstUsed.length > 0) this.#emit({ kind: 'inUse', name: left.name, blocks: firstUsed });
    if (freed.length > 0) this.#emit({ kind: 'freed', others });
    if (isFirst) this.#emit({ kind: 'looked', name: left.name });
  }
}
