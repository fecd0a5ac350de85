// The part of what a CiliumNode shows that it holds. Anyone who may write one can show the blocks of many in it. Up to a bound
// that counts; beyond it, a Node of its name has to be there. Without one, it counts for nothing, and others may get it.
import { type Cidr, isAmong } from '../set/cidr.ts';
import type { BlockCondition, HolderName } from './block-holders.ts';
import type { BlockLedger } from './block-ledger.ts';
import type { BlockCount } from './shelf.ts';

/** Whether a Node of this name is there; undefined while that is not known for sure. */
type HasNode = (name: string) => boolean | undefined;

export class NodeClaims {
  /** The most blocks of one pool and family that an object without a Node has. */
  readonly bound: number;
  readonly #ledger: BlockLedger;
  readonly #hasNode: HasNode;
  /** Uids of objects whose Node was there once: it may come back at any time. */
  readonly #confirmed = new Set<string>();
  /** Names of objects above the bound of which it is not known whether they have a Node, by uid. */
  readonly #undecided = new Map<string, string>();
  /** Blocks that an object without a Node got from this process, by uid. */
  readonly #given = new Map<string, readonly Cidr[]>();

  constructor(ledger: BlockLedger, bound: number, hasNode: HasNode) {
    this.#ledger = ledger;
    this.bound = bound;
    this.#hasNode = hasNode;
  }

  /** Names of objects to look at again once it is known which Nodes there are. */
  get undecided(): readonly string[] {
    return [...this.#undecided.values()];
  }

  /** Whether the object has a Node, or may have one. */
  isWhole({ name, uid }: HolderName): boolean {
    if (this.#confirmed.has(uid)) return true;
    const hasNode = this.#hasNode(name);
    if (hasNode === true) {
      this.forget({ uid });
      this.#confirmed.add(uid);
    }
    return hasNode !== false;
  }

  isUndecided({ uid }: HolderName): boolean {
    return this.#undecided.has(uid);
  }

  /** Holds what counts of these, and returns the others. What it got from this process counts first. */
  hold(claimant: HolderName, cidrs: readonly Cidr[]): readonly Cidr[] {
    const ledger = this.#ledger;
    const { uid, name } = claimant;
    for (const cidr of cidrs) ledger.hold(uid, cidr);
    const counts = ledger.blocksOf(uid);
    const isAbove = counts.some(({ blocks }) => blocks > this.bound);
    const isWhole = this.isWhole(claimant);
    this.#undecided.delete(uid);
    if (isAbove && isWhole && !this.#confirmed.has(uid)) this.#undecided.set(uid, name);
    return isAbove && !isWhole ? this.#trim(uid, cidrs, counts) : [];
  }

  #trim(uid: string, cidrs: readonly Cidr[], counts: readonly BlockCount[]): readonly Cidr[] {
    const ledger = this.#ledger;
    const given = this.#given.get(uid) ?? [];
    const left = new Map(counts.map((each) => [keyOf(each), each.blocks]));
    const trimmed: Cidr[] = [];
    for (const cidr of cidrs.toReversed()) {
      const [own] = ledger.blocksOf(uid, cidr);
      if (own === undefined || isAmong(given, cidr) || ledger.isTrusted(uid, cidr)) continue;
      const blocks = left.get(keyOf(own)) ?? 0;
      if (blocks <= this.bound) continue;
      left.set(keyOf(own), blocks - own.blocks);
      ledger.release(uid, [cidr]);
      trimmed.push(cidr);
    }
    return trimmed;
  }

  /** This process gives these to the object. */
  noteGiven(claimant: HolderName, cidrs: readonly Cidr[]): void {
    if (cidrs.length === 0 || this.#confirmed.has(claimant.uid)) return;
    const held = this.#ledger.heldBy(claimant.uid);
    const before = (this.#given.get(claimant.uid) ?? []).filter((cidr) => isAmong(held, cidr));
    this.#given.set(claimant.uid, [...before, ...cidrs]);
  }

  /** How many further blocks the object may get. */
  room(claimant: HolderName, { pool, family }: Pick<BlockCount, 'family' | 'pool'>): number {
    if (this.isWhole(claimant)) return Infinity;
    const own = this.#ledger
      .blocksOf(claimant.uid)
      .find((each) => each.pool === pool && each.family === family);
    return Math.max(0, this.bound - (own?.blocks ?? 0));
  }

  forget({ uid }: Pick<HolderName, 'uid'>): void {
    this.#confirmed.delete(uid);
    this.#undecided.delete(uid);
    this.#given.delete(uid);
  }
}

function keyOf({ pool, family }: BlockCount): string {
  return `${family} ${pool}`;
}

/** `blocks`: which ones are counted. `does`: what the object does with others, in singular. */
export function unconfirmed(bound: number, blocks: string, does: string): BlockCondition {
  return {
    reason: 'BlocksUnconfirmed',
    message: `it has no Node of its name, so only ${bound} ${blocks} count as its own, and other nodes may get what else it ${does}: delete the CiliumNode if its machine is gone, let its Node register, or raise max-blocks-without-node`,
  };
}
