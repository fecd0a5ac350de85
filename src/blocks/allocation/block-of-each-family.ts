// Blocks of an object where nodes have one of each family: a missing family is added, a known block is kept, and nothing
// is taken from an object that lives.
import { type Cidr, cidrOf, cidrText, type Family, isAmong, overlaps } from '../set/cidr.ts';
import type {
  AllocationPolicy,
  Change,
  MissingBlock,
  Reservation,
  ServiceFacts,
} from './allocation-policy.ts';
import { type AskedMaskSize, askedMaskSize } from './asked-mask-size.ts';
import {
  absentFamily,
  blockCondition,
  type BlockShortage,
  type BlockWords,
  shownBlocks,
  type ShownBlocks,
} from './block-condition.ts';
import type { AskedMaskSizes, BlockCondition, BlockWriter, Holder } from './block-holders.ts';
import { type Allocated, type BlockLedger, onlyPool } from './block-ledger.ts';
import type { LeftHoldings } from './left-holdings.ts';
import { NodeClaims } from './node-claims.ts';
import { conflictOf } from './seniority.ts';

export interface BlockOfEachFamilyDeps {
  /** An object gets a block of each family that it has networks of, in their order. */
  readonly ledger: BlockLedger;
  readonly writer: BlockWriter;
  readonly words: BlockWords;
  /** Whether an object that has a block of one family can get one of the other. */
  readonly canGrow: boolean;
  /** The most that bigger blocks have of a family, in percent. Default: all of it. */
  readonly biggerShare?: number;
  /** The part of what objects show that they hold. Default: all of it. */
  readonly claims?: NodeClaims;
  /** Blocks that objects left whose pods may run on. Default: what an object had is free with it. */
  readonly left?: LeftHoldings;
  /** The Nodes that ask for objects. Default: an object asks for itself. */
  readonly nodes?: AskingNodes;
}

export interface AskingNodes {
  /** The sizes that the Node of an object asks for; `unknown` if the Node has yet to be seen. */
  askedFor(holder: Holder): AskedMaskSizes | 'unknown';
}

interface Known {
  holder: Holder;
  shown: ShownBlocks;
  /** Held beside them, and not to be given to it as a block. */
  readonly beside: readonly Cidr[];
  /** CIDRs that it shows, and does not hold. */
  readonly unconfirmed: readonly Cidr[];
  /** Blocks of a write without a definite answer, or that a dry run would write, and that it never showed: nobody uses them yet. */
  reserved: readonly Cidr[];
  /** The blocks that the last reservation adds. */
  added: string;
}

/** Blocks that an object showed once, and those that it shows, while it lives. */
const maxRemembered = 32;

export class BlockOfEachFamily implements AllocationPolicy<Holder> {
  readonly writesInARow = 0;
  readonly #deps: BlockOfEachFamilyDeps;
  readonly #known = new Map<string, Known>();
  /** Prefix length of the blocks of each family. */
  readonly #usual: ReadonlyMap<Family, number>;
  readonly #families: readonly Family[];
  readonly #claims: NodeClaims;

  constructor(deps: BlockOfEachFamilyDeps) {
    this.#deps = deps;
    this.#claims = deps.claims ?? new NodeClaims(deps.ledger, Infinity, () => undefined);
    this.#usual = new Map(deps.ledger.figures().map(({ cidr, maskSize }) => [cidr.family, maskSize]));
    this.#families = [...this.#usual.keys()];
  }

  hold(holder: Holder, before: Holder | undefined): Change {
    const known = this.#known.get(holder.uid);
    if (known !== undefined && before !== undefined && !this.isNews(holder, before)) {
      known.holder = holder;
      return this.#decide(known);
    }
    const { reserved = [], added = '', shown: earlier } = known ?? {};
    const shown = shownBlocks(holder);
    const unconfirmed = this.#claim(holder, shown);
    const next = { holder, shown, beside: besideOf(holder), unconfirmed, reserved, added };
    this.#known.set(holder.uid, next);
    const others = this.#hold(next);
    // A conflict about what it no longer shows is over.
    const gone = (earlier?.cidrs ?? []).filter((cidr) => !isAmong(next.shown.cidrs, cidr));
    return { others: [...others, ...this.#deps.ledger.othersHolding(gone, holder.uid)], freed: [] };
  }

  /** The object is the same, and its Node may have come, or turned out to be none. */
  #decide(known: Known): Change {
    const { holder, shown, unconfirmed } = known;
    const isOpen = unconfirmed.length > 0 || this.#claims.isUndecided(holder);
    if (!isOpen || this.#claims.isWhole(holder) === (unconfirmed.length === 0))
      return { others: [], freed: [] };
    const now = this.#claim(holder, shown);
    this.#known.set(holder.uid, { ...known, unconfirmed: now });
    const changed = [...unconfirmed, ...now];
    const { ledger } = this.#deps;
    return {
      others: ledger.othersHolding(changed, holder.uid),
      freed: now.map((cidr) => ({ cidr, pool: ledger.poolOf(cidr) })),
    };
  }

  /** Returns what it does not hold. */
  #claim(holder: Holder, { cidrs }: ShownBlocks): readonly Cidr[] {
    return this.#claims.hold(holder, [...cidrs, ...readCidrs(holder.alsoHeld ?? [])]);
  }

  release({ uid, name }: Holder): Change {
    const { ledger, left } = this.#deps;
    this.#known.delete(uid);
    this.#claims.forget({ uid });
    const held = ledger.heldBy(uid);
    const others = ledger.othersHolding(held, uid);
    left?.leave({ name, uid });
    return { others, freed: left === undefined ? ledger.release(uid, held) : [] };
  }

  isOurs(holder: Holder): boolean {
    const unconfirmed = this.#known.get(holder.uid)?.unconfirmed ?? [];
    const own = [...this.#deps.ledger.heldBy(holder.uid), ...unconfirmed];
    return shownBlocks(holder).cidrs.every((cidr) => isAmong(own, cidr));
  }

  isNews(holder: Holder, before: Holder): boolean {
    const { blocks, alsoHeld = [] } = holder;
    if (!isSameText(blocks, before.blocks) || !isSameText(alsoHeld, before.alsoHeld ?? [])) return true;
    return this.asksOtherwise(holder, before);
  }

  asksOtherwise(holder: Holder, before: Holder): boolean {
    return !isSameAsking(this.#askedBy(holder), this.#askedBy(before));
  }

  missingBlocks({ uid }: Holder): readonly MissingBlock[] {
    const known = this.#known.get(uid);
    return known === undefined ? [] : this.#missing(known).map((family) => ({ pool: onlyPool, family }));
  }

  /** A block of each missing family, or none at all. */
  reserve({ uid }: Holder): Reservation | undefined {
    const known = this.#known.get(uid);
    if (known === undefined || this.#isUnsure(known)) return undefined;
    for (const cidr of this.#deps.left?.claim(known.holder.name) ?? []) this.#deps.ledger.hold(uid, cidr);
    const missing = this.#missing(known);
    const asked = this.#askedFor(known, missing);
    if (asked === 'unknown' || !missing.every((family) => this.#hasBlock(known, family, asked)))
      return undefined;
    const allocated: Allocated[] = [];
    const added = missing.map(
      (family) => this.#ownBlock(known, family) ?? this.#allocate(known, family, asked, allocated),
    );
    this.#claims.noteGiven(known.holder, added);
    // A block that an earlier write may have given stays reserved until the object shows what it has.
    known.reserved = [...known.reserved, ...allocated.map(({ cidr }) => cidr)];
    const text = added.map(cidrText).join();
    const isKnown = known.added === text;
    known.added = text;
    const blocks = this.#inOrder(known.holder.blocks, added);
    const { holder } = known;
    const write: Reservation['write'] = (signal) => this.#deps.writer.assign(holder, blocks, signal);
    return { write, blocks, fresh: known.reserved.map(cidrText), isKnown, allocated };
  }

  cancel({ uid }: Holder): void {
    const known = this.#known.get(uid);
    if (known === undefined) return;
    this.#deps.ledger.release(uid, known.reserved);
    known.reserved = [];
  }

  conditionOf(holder: Holder, service: ServiceFacts): BlockCondition | undefined {
    const known = this.#known.get(holder.uid);
    if (known === undefined) return undefined;
    const { ledger, words } = this.#deps;
    const { bound } = this.#claims;
    const { shown } = known;
    const own = shown.cidrs.map((cidr) => ({ cidr }));
    const missing = service.isWaiting && !this.#isUnsure(known) ? this.#missing(known) : [];
    const askedLate = this.#askedOf(
      holder,
      shown.cidrs.map(({ family }) => family),
    );
    return blockCondition(
      {
        holder,
        shown,
        placement: {
          conflict: conflictOf(holder, own, (cidr) => this.#othersShowing(cidr, known)),
          ...ledger.misplaced(shown.cidrs),
        },
        absent: this.#deps.canGrow ? undefined : absentFamily(this.#families, shown),
        shortage: this.#shortageOf(known, missing),
        askedLate: askedLate === 'unknown' ? [] : askedLate,
        claims: {
          bound,
          isUnconfirmed: known.unconfirmed.length > 0,
          isExcessive: ledger.blocksOf(holder.uid).some(({ blocks }) => blocks > bound),
        },
        service,
      },
      words,
    );
  }

  /** Holds what the object shows, and frees what was reserved for a family of which it shows another block. */
  #hold(known: Known): readonly string[] {
    const { holder, shown, reserved } = known;
    const { ledger } = this.#deps;
    const isShown = (cidr: Cidr): boolean => isAmong(shown.cidrs, cidr);
    const isSettled = ({ family }: Cidr): boolean => shown.cidrs.some((each) => each.family === family);
    ledger.release(
      holder.uid,
      reserved.filter((cidr) => isSettled(cidr) && !isShown(cidr)),
    );
    known.reserved = reserved.filter((cidr) => !isSettled(cidr));
    const held = ledger.heldBy(holder.uid);
    const also = readCidrs(holder.alsoHeld ?? []);
    const isInUse = (cidr: Cidr): boolean => isShown(cidr) || isAmong([...known.reserved, ...also], cidr);
    const old = held.filter((cidr) => !isInUse(cidr));
    ledger.release(holder.uid, old.slice(0, Math.max(0, held.length - maxRemembered)));
    return ledger.othersHolding(shown.cidrs, holder.uid);
  }

  /** The blocks to write: what is shown keeps its text and order, and what is added stands in the order of the families. */
  #inOrder(shown: readonly string[], added: readonly Cidr[]): readonly string[] {
    const isFirst = added[0]?.family === this.#families[0];
    const texts = added.map(cidrText);
    return isFirst ? [...texts, ...shown] : [...shown, ...texts];
  }

  /** Whether an object of its name left blocks that it may have to get again. */
  #isUnsure({ holder: { name } }: Known): boolean {
    return this.#deps.left?.isUnsure(name) === true;
  }

  /** The families of which the object shows no block. */
  #missing({ shown, holder }: Known): readonly Family[] {
    const { canGrow } = this.#deps;
    if (shown.unreadable !== undefined || (holder.blocks.length > 0 && !canGrow)) return [];
    return this.#families.filter((family) => shown.cidrs.every((cidr) => cidr.family !== family));
  }

  #shortageOf(known: Known, missing: readonly Family[]): BlockShortage {
    const asked = this.#askedFor(known, missing);
    if (asked === 'unknown') return { exhausted: [], asked };
    const exhausted = missing.filter((family) => !this.#hasBlock(known, family, asked));
    return { exhausted, largest: this.#largestOf(exhausted), asked, fullShare: this.#fullShare(asked) };
  }

  #fullShare(asked: readonly AskedMaskSize[]): BlockShortage['fullShare'] {
    const { biggerShare = 100 } = this.#deps;
    const full = asked.find((each) => each.maskSize !== undefined && this.#isShareFull(each));
    return full && { asked: full, percent: biggerShare };
  }

  /** Names of those that hold a large part of what is exhausted. */
  #largestOf(exhausted: readonly Family[]): readonly string[] {
    const uids = exhausted.flatMap((family) => this.#deps.ledger.largestHolders(family, onlyPool));
    return [...new Set(uids)].flatMap((uid) => this.#known.get(uid)?.holder.name ?? []);
  }

  /** Others that show a part of a CIDR which the object holds. */
  #othersShowing(cidr: Cidr, { holder, unconfirmed }: Known): readonly Holder[] {
    if (isAmong(unconfirmed, cidr)) return [];
    return this.#deps.ledger
      .othersHolding([cidr], holder.uid)
      .flatMap((uid) => this.#known.get(uid) ?? [])
      .filter(({ shown }) => shown.cidrs.some((each) => overlaps(each, cidr)))
      .map((other) => other.holder);
  }

  #askedBy(holder: Holder): AskedMaskSizes | 'unknown' {
    const { nodes } = this.#deps;
    return nodes === undefined ? (holder.asked ?? {}) : nodes.askedFor(holder);
  }

  /** Sizes that its Node asks for, of these families. A block that it has already counts more: its family is left out. */
  #askedFor(known: Known, missing: readonly Family[]): readonly AskedMaskSize[] | 'unknown' {
    const lacking = missing.filter((family) => this.#ownBlock(known, family) === undefined);
    return lacking.length === 0 ? [] : this.#askedOf(known.holder, lacking);
  }

  #askedOf(holder: Holder, own: readonly Family[]): readonly AskedMaskSize[] | 'unknown' {
    const asked = this.#askedBy(holder);
    if (asked === 'unknown') return asked;
    return own.flatMap((family) => {
      const [text, usual] = [asked[family], this.#usual.get(family)];
      return text === undefined || usual === undefined ? [] : [askedMaskSize(family, text, usual)];
    });
  }

  /** Whether a block of the family is free or reserved for the object. */
  #hasBlock(known: Known, family: Family, asked: readonly AskedMaskSize[]): boolean {
    if (this.#ownBlock(known, family) !== undefined) return true;
    const own = asked.find((each) => each.family === family);
    if (own === undefined) return this.#deps.ledger.hasFree(family);
    if (own.maskSize === undefined || this.#isShareFull(own)) return false;
    return this.#deps.ledger.hasFree(family, { maskSize: own.maskSize });
  }

  /** Whether bigger blocks would have more of the family than they may. The first one may be of any part. */
  #isShareFull({ family, usual, maskSize = usual }: AskedMaskSize): boolean {
    const { ledger, biggerShare = 100 } = this.#deps;
    if (maskSize === usual || biggerShare === 100) return false;
    const { wide, capacity } = ledger.wideShare(family);
    if (wide === 0) return biggerShare === 0;
    return wide + 2 ** (usual - maskSize) > (capacity * biggerShare) / 100;
  }

  /** A block that the object has already, although it does not show it: it gets no other, unless somebody else has that one too. */
  #ownBlock({ holder: { uid }, beside }: Known, family: Family): Cidr | undefined {
    const { ledger } = this.#deps;
    const own = ledger.heldBy(uid).filter((cidr) => cidr.family === family && !isAmong(beside, cidr));
    return own.findLast((cidr) => ledger.othersHolding([cidr], uid).length === 0);
  }

  #allocate({ holder }: Known, family: Family, asked: readonly AskedMaskSize[], into: Allocated[]): Cidr {
    const maskSize = asked.find((each) => each.family === family)?.maskSize;
    const allocated = this.#deps.ledger.allocate(
      family,
      holder.uid,
      maskSize === undefined ? {} : { maskSize },
    );
    if (allocated === undefined) throw new Error('a block was free a moment ago');
    into.push(allocated);
    return allocated.cidr;
  }
}

/** CIDRs that it may not get as its block. */
function besideOf({ alsoHeld = [], kept = [] }: Holder): readonly Cidr[] {
  const own = readCidrs(kept);
  return readCidrs(alsoHeld).filter((cidr) => !isAmong(own, cidr));
}

function readCidrs(texts: readonly string[]): readonly Cidr[] {
  return texts.flatMap((text) => cidrOf(text) ?? []);
}

function isSameText(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

function isSameAsking(a: AskedMaskSizes | 'unknown', b: AskedMaskSizes | 'unknown'): boolean {
  if (a === 'unknown' || b === 'unknown') return a === b;
  return a.ipv4 === b.ipv4 && a.ipv6 === b.ipv6;
}
