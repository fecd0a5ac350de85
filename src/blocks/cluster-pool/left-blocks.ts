// Blocks of CiliumNodes that are gone: they may go to other nodes once no pod of their node has an address of them.
import type { PodReading, PodReads } from '../../kubernetes/watch/shown-pods.ts';
import type { ProcessPorts } from '../../runtime/process-ports.ts';
import type { HolderName } from '../allocation/block-holders.ts';
import type { BlockLedger } from '../allocation/block-ledger.ts';
import { LeftHoldings } from '../allocation/left-holdings.ts';
import { addressCidr, type Cidr } from '../set/cidr.ts';
import { type AwaitingBlocks, PodLooks } from './pod-looks.ts';

export type LeftBlocksEvent =
  /** The addresses that pods of that node use are known now. */
  | { readonly kind: 'looked'; readonly name: string }
  /** Blocks are free. `others`: uids of those that hold any part of them. */
  | { readonly kind: 'freed'; readonly others: readonly string[] }
  | { readonly kind: 'inUse'; readonly name: string; readonly blocks: readonly Cidr[] }
  /** Pods may not be read: blocks are free without a look. */
  | { readonly kind: 'denied'; readonly problem: string };

/** Looks at once: many nodes may be deleted together. */
const maxLooks = 10;

export class LeftBlocks implements AwaitingBlocks {
  readonly holdings: LeftHoldings;
  readonly #emit: (event: LeftBlocksEvent) => void;
  readonly #looks: PodLooks;

  constructor(
    ports: ProcessPorts,
    ledger: BlockLedger,
    pods: PodReads,
    emit: (event: LeftBlocksEvent) => void,
  ) {
    this.#emit = emit;
    this.#looks = new PodLooks(ports, pods, this, maxLooks);
    this.holdings = new LeftHoldings(ledger, (left) => this.#looks.begin(left));
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#looks.stop(deadline);
  }

  awaitLook(left: HolderName): boolean {
    return this.holdings.has(left);
  }

  lookedAt(left: HolderName, reading: PodReading): void {
    const shown = reading.kind === 'read' ? reading.shown : [];
    if (reading.kind === 'unreadable') {
      if (!reading.isDenied) return;
      this.#emit({ kind: 'denied', problem: reading.problem });
    }
    const addresses = shown.flatMap(({ address }) => addressCidr(address) ?? []);
    const { firstUsed, isFirst, freed, others } = this.holdings.lookedAt(left, addresses);
    if (firstUsed.length > 0) this.#emit({ kind: 'inUse', name: left.name, blocks: firstUsed });
    if (freed.length > 0) this.#emit({ kind: 'freed', others });
    if (isFirst) this.#emit({ kind: 'looked', name: left.name });
  }
}
