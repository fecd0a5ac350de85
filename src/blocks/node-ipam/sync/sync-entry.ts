// A Node whose pod CIDR and alias are brought into accord, as far as it is known, and what it holds.
import type { Standing } from '../../allocation/allocator-entry.ts';
import type { AllocatorPorts } from '../../allocation/block-allocator.ts';
import { shownBlocks, type ShownBlocks } from '../../allocation/block-condition.ts';
import type { BlockCondition } from '../../allocation/block-holders.ts';
import type { BlockLedger } from '../../allocation/block-ledger.ts';
import { type Cidr, cidrOf, isAmong } from '../../set/cidr.ts';
import { type AliasHolder, isOtherState } from '../node-holders.ts';
import type { SyncBackoff } from './sync-backoff.ts';

export class SyncEntry {
  readonly backoff: SyncBackoff;
  /** The Node is gone, or another one has its name. */
  isGone = false;
  /** The Node as last read. */
  holder: AliasHolder;
  shown: ShownBlocks;
  /** CIDRs that the cloud routed to its instance when it was last asked. */
  aliases: readonly Cidr[] = [];
  /** The block that this process took for it, until the Node shows one. */
  taken: Cidr | undefined;
  condition: BlockCondition | undefined;
  /** Nothing may be written now: it goes on when that may have changed. */
  isHeldBack = false;
  /** In a dry run: what it was told that it would get. */
  toldBlock: string | undefined;
  /** Blocks that the cloud may route to it yet. */
  #doubtful: readonly Cidr[] = [];
  readonly #ledger: BlockLedger;
  readonly #ports: Pick<AllocatorPorts, 'clock' | 'emit'>;
  #waitsSince: number | undefined;

  constructor(
    holder: AliasHolder,
    backoff: SyncBackoff,
    ledger: BlockLedger,
    ports: Pick<AllocatorPorts, 'clock' | 'emit'>,
  ) {
    this.backoff = backoff;
    this.#ledger = ledger;
    this.#ports = ports;
    this.holder = holder;
    this.shown = shownBlocks(holder);
    this.#settle();
  }

  /** Takes in the newest state of the Node. Returns whether it is news. */
  update(holder: AliasHolder): boolean {
    const before = this.holder;
    this.holder = holder;
    this.shown = shownBlocks(holder);
    if (this.shown.cidrs.length > 0) this.taken = undefined;
    this.#settle();
    return isOtherState(holder, before);
  }

  /**
   * Takes in what the cloud routes to its instance. Text that is no CIDR does not count. A block of a call without a clear answer
   * that the cloud routes now is the one that was taken. Returns the block that it replaces and that is free again.
   */
  noteAliases(texts: readonly string[]): Cidr | undefined {
    const { taken } = this;
    this.aliases = texts.flatMap((text) => cidrOf(text) ?? []);
    const late = this.#doubtful.find((cidr) => isAmong(this.aliases, cidr));
    this.#doubtful = this.#doubtful.filter((cidr) => !isAmong(this.aliases, cidr));
    if (this.shown.cidrs.length === 0) this.taken = late ?? taken;
    this.#settle();
    return taken !== undefined && !this.#isHolding(taken) ? taken : undefined;
  }

  /** The block becomes its own. */
  take(cidr: Cidr): void {
    this.taken = cidr;
    this.#settle();
  }

  /** The cloud refused the block that was taken. Returns whether it is free again: it is not if the cloud may route it yet. */
  cancelTaken(): boolean {
    const cidr = this.taken;
    this.taken = undefined;
    this.#settle();
    return cidr !== undefined && !this.#isHolding(cidr);
  }

  #isHolding(cidr: Cidr): boolean {
    return isAmong(this.#ledger.heldBy(this.holder.uid), cidr);
  }

  /** A call about this block had no clear answer. */
  doubt(cidr: Cidr): void {
    if (!isAmong(this.#doubtful, cidr)) this.#doubtful = [...this.#doubtful, cidr].slice(-maxDoubtful);
    this.#settle();
  }

  get standing(): Standing {
    return {
      holder: this.holder,
      standing: this.#howServed,
      condition: this.condition,
      waitsSince: this.#waitsSince,
    };
  }

  get #howServed(): Standing['standing'] {
    const { blocks, isNetworkReady, isLeftAlone } = this.holder;
    if (blocks.length > 0 && isNetworkReady) return 'served';
    return isLeftAlone ? 'leftAlone' : 'waiting';
  }

  #timeWait(): void {
    const since = this.#waitsSince;
    const now = this.#ports.clock.monotonic();
    this.#waitsSince = this.#howServed === 'waiting' ? (since ?? now) : undefined;
    if (since !== undefined && this.#howServed === 'served')
      this.#ports.emit({ kind: 'served', afterMs: now - since });
  }

  /** Holds what it shows, what the cloud routes to it, and what either may get yet, and nothing else. */
  #settle(): void {
    const { uid } = this.holder;
    const own = [...this.shown.cidrs, ...this.aliases, ...this.#doubtful];
    const held = this.taken === undefined ? own : [...own, this.taken];
    this.#ledger.holdOnly(uid, held);
    this.#timeWait();
  }
}

/** Blocks of calls without a clear answer that are remembered. */
const maxDoubtful = 16;
