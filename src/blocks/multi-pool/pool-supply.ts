// Which blocks of a pool a node gets for what its agent asks: first those that it holds and does not list, then free ones.
import { maxCidrsRead } from '../../kubernetes/cilium-node/cilium-node-pools.ts';
import type { Allocated, BlockLedger } from '../allocation/block-ledger.ts';
import type { NodeClaims } from '../allocation/node-claims.ts';
import type { Cidr } from '../set/cidr.ts';
import { isListed } from './block-returns.ts';
import type { Known } from './known-pool-node.ts';
import type { ListedBlock, PoolBook, PoolState } from './pool-book.ts';
import { usableAddresses } from './pool-definition.ts';
import type { PoolWant } from './pool-want.ts';

/** The most blocks that one write adds from one pool and family: no node takes a pool at once. */
const maxAdded = 256;

export class PoolSupply {
  readonly #ledger: BlockLedger;
  readonly #book: PoolBook;
  readonly #claims: NodeClaims;

  constructor(ledger: BlockLedger, book: PoolBook, claims: NodeClaims) {
    this.#ledger = ledger;
    this.#book = book;
    this.#claims = claims;
  }

  /** Blocks that the node holds although it does not list them, but for those that it had under another name. */
  ownBlocks(
    { holder: { uid }, listed, unlisted }: Known,
    { pool, family, addresses }: PoolWant,
  ): readonly Cidr[] {
    const ledger = this.#ledger;
    const foreign = unlisted.filter((each) => each.pool !== pool);
    const state = this.#book.get(pool);
    const blocks: Cidr[] = [];
    let left = addresses;
    for (const cidr of ledger.heldBy(uid)) {
      if (left <= 0) break;
      const isOfPool = cidr.family === family && ledger.poolOf(cidr)?.pool === pool;
      if (!isOfPool || isListed(listed, { cidr }) || isListed(foreign, { cidr })) continue;
      if (ledger.othersHolding([cidr], uid).length > 0) continue;
      blocks.push(cidr);
      left -= usable(state, cidr);
    }
    return blocks;
  }

  /** Blocks that it showed, and may list again. */
  returnable({ holder: { uid }, unlisted }: Known): readonly ListedBlock[] {
    return unlisted.filter(({ cidr }) => this.#ledger.othersHolding([cidr], uid).length === 0);
  }

  /** Takes as many blocks as are wanted, or as are free. */
  take(known: Known, want: PoolWant, allocated: Allocated[]): readonly Cidr[] {
    const state = this.#book.get(want.pool);
    if (state?.definition === undefined) return [];
    const blocks = [...this.ownBlocks(known, want)];
    const most = Math.min(maxAdded, blocks.length + this.#claims.room(known.holder, want));
    let left = blocks.reduce((sum, cidr) => sum - usable(state, cidr), want.addresses);
    while (left > 0 && blocks.length < most && !this.isFull(known)) {
      const next = this.#ledger.allocate(want.family, known.holder.uid, { pool: want.pool });
      if (next === undefined) break;
      allocated.push(next);
      blocks.push(next.cidr);
      left -= usable(state, next.cidr);
    }
    return blocks;
  }

  /** Whether another block would be too much for its list. */
  isFull({ holder: { uid } }: Known): boolean {
    return this.#ledger.heldBy(uid).length >= maxCidrsRead;
  }

  canServe(known: Known, want: PoolWant): boolean {
    if (this.#book.get(want.pool)?.definition === undefined) return false;
    if (this.ownBlocks(known, want).length > 0) return true;
    if (this.#claims.room(known.holder, want) === 0) return false;
    return !this.isFull(known) && this.#ledger.hasFree(want.family, { pool: want.pool });
  }
}

function usable(state: PoolState | undefined, cidr: Cidr): number {
  return usableAddresses(cidr, state?.definition?.[cidr.family]);
}
