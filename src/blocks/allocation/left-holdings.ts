// Holdings of objects that are gone. Somebody may have deleted the object of a machine that lives, and its pods run on. So its
// blocks stay out of reach until none of its pods shows an address of them, and a new object of its name gets them back.
import { type Cidr, overlaps } from '../set/cidr.ts';
import type { HolderName } from './block-holders.ts';
import type { BlockLedger } from './block-ledger.ts';

interface Left extends HolderName {
  /** The part that pods use; undefined before the first look. */
  used: readonly Cidr[] | undefined;
}

export interface LeftAfterLook {
  /** Blocks that pods use, if this is the first look that shows them. */
  readonly firstUsed: readonly Cidr[];
  /** Whether an object of that name may have waited for the look. */
  readonly isFirst: boolean;
  readonly freed: readonly Cidr[];
  /** Uids of others that hold any part of what is free now. */
  readonly others: readonly string[];
}

/** A larger CIDR is no block of a node. */
const maxBlocks = 16;
/** Names of objects that are gone of which it is known what they had. */
const maxNames = 1024;

export class LeftHoldings {
  readonly #ledger: BlockLedger;
  readonly #onLeave: (left: HolderName) => void;
  /** By name and uid: objects of one name may have gone one after the other. */
  readonly #byName = new Map<string, Map<string, Left>>();
  /** All that the last object of a name had, used or not. */
  readonly #hadBy = new Map<string, readonly Cidr[]>();

  constructor(ledger: BlockLedger, onLeave: (left: HolderName) => void) {
    this.#ledger = ledger;
    this.#onLeave = onLeave;
  }

  /** The object is gone. What it holds stays held under its uid. */
  leave({ name, uid }: HolderName): void {
    const held = this.#ledger.heldBy(uid);
    if (held.length === 0) return;
    this.#hadBy.delete(name);
    this.#hadBy.set(name, held);
    for (const oldest of this.#hadBy.keys()) {
      if (this.#hadBy.size <= maxNames) break;
      this.#hadBy.delete(oldest);
    }
    const left = { name, uid, used: undefined };
    this.#byName.set(name, (this.#byName.get(name) ?? new Map<string, Left>()).set(uid, left));
    this.#onLeave(left);
  }

  /** Pods of a node without an object use this block: its object went before this process led. */
  remember(name: string, cidr: Cidr): void {
    const uid = `left by ${name}`;
    this.#ledger.hold(uid, cidr);
    if (!this.has({ name, uid })) this.leave({ name, uid });
  }

  /** Blocks that pods used at the last look, with the name of their node. */
  *inUse(): Generator<{ readonly name: string; readonly cidr: Cidr }> {
    for (const same of this.#byName.values())
      for (const { name, used = [] } of same.values()) for (const cidr of used) yield { name, cidr };
  }

  /** All that the last object of that name had: its agent may list it again. */
  hadBy(name: string): readonly Cidr[] {
    return this.#hadBy.get(name) ?? [];
  }

  /** Whether it is not known yet which blocks pods use of those that an object of that name left. */
  isUnsure(name: string): boolean {
    return [...(this.#byName.get(name)?.values() ?? [])].some(({ used }) => used === undefined);
  }

  has({ name, uid }: HolderName): boolean {
    return this.#byName.get(name)?.has(uid) === true;
  }

  /** Blocks in use that an object of that name left: a new one is to hold them from now on. */
  claim(name: string): readonly Cidr[] {
    return [...(this.#byName.get(name)?.values() ?? [])].flatMap((left) => {
      const own = (left.used ?? []).filter((cidr) => this.#isBlock(cidr));
      this.#release(left, own);
      return own;
    });
  }

  /** `addresses`: what pods of its node show. */
  lookedAt({ name, uid }: HolderName, addresses: readonly Cidr[]): LeftAfterLook {
    const left = this.#byName.get(name)?.get(uid);
    if (left === undefined) return { firstUsed: [], isFirst: false, freed: [], others: [] };
    const { ledger, isFirst } = { ledger: this.#ledger, isFirst: left.used === undefined };
    const isInUse = (cidr: Cidr): boolean => addresses.some((each) => overlaps(cidr, each));
    const [used = [], freed = []] = [true, false].map((is) =>
      ledger.heldBy(uid).filter((cidr) => isInUse(cidr) === is),
    );
    const firstUsed = (left.used ?? []).length === 0 ? used : [];
    left.used = used;
    const others = ledger.othersHolding(freed, uid);
    this.#release(left, freed);
    return { firstUsed, isFirst, freed, others };
  }

  #isBlock(cidr: Cidr): boolean {
    const blocks = this.#ledger.blocksIn(cidr);
    return blocks > 0 && blocks <= maxBlocks;
  }

  #release({ name, uid }: Left, cidrs: readonly Cidr[]): void {
    this.#ledger.release(uid, cidrs);
    if (this.#ledger.heldBy(uid).length > 0) return;
    const same = this.#byName.get(name);
    same?.delete(uid);
    if (same?.size === 0) this.#byName.delete(name);
  }
}
