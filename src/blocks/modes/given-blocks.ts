// Compares the blocks that another program gave to an object with those that a dry run would have given. Blocks of one pool,
// family and mask size are alike, unless somebody else has one. Pure.
import type { DryRunOutcome } from '../../controller/reporting/other-decisions.ts';
import type { GivenBlocks } from '../allocation/allocator-event.ts';
import type { Holder } from '../allocation/block-holders.ts';
import type { BlockLedger } from '../allocation/block-ledger.ts';
import { cidrOf, cidrText, familyNames, overlaps } from '../set/cidr.ts';

type Shown = Pick<Holder, 'blocks'>;

/** Kinds of blocks that one text names: anyone may write any block into an object. */
const maxNamed = 5;

/** Undefined if it shows the blocks that it had. `returns`: whether agents return blocks, so that fewer are nobody's decision. */
export function comparedBlocks(
  { holder, before, plan, isOwn, sharing }: GivenBlocks,
  ledger: Pick<BlockLedger, 'isReserved' | 'othersHolding' | 'poolOf'>,
  returns: boolean,
): DryRunOutcome | undefined {
  const gained = addedTo(before, holder);
  const lost = returns ? [] : addedTo(holder, before).filter(isReadable);
  if (gained.length + lost.length === 0) return undefined;
  const planned = addedTo(before, plan);
  // An agent may list again what it returned.
  if (returns && isOwn && planned.length === 0) return undefined;
  const faultOf = faultsAmong(holder, sharing, ledger);
  const given = countsOf(gained.map((text) => `${kindOf(text, ledger)}${faultOf(text)}`));
  const meant = countsOf(planned.map((text) => kindOf(text, ledger)));
  if (lost.length === 0 && given.join() === meant.join()) return { kind: 'same' };
  const taken = countsOf(lost.map((text) => kindOf(text, ledger)));
  const did = [inWords('give', given), inWords('release', taken)].filter((text) => text !== '');
  return { kind: 'otherwise', would: inWords('give', meant) || nothing(plan), did: did.join(' and ') };
}

function nothing({ why }: GivenBlocks['plan']): string {
  return why === undefined ? 'nothing' : `nothing (${why})`;
}

function isReadable(block: string): boolean {
  return cidrOf(block) !== undefined;
}

function addedTo(before: Shown, now: Shown): readonly string[] {
  const had = new Set(before.blocks.map(normalText));
  return [...new Set(now.blocks.map(normalText))].filter((text) => !had.has(text));
}

function normalText(block: string): string {
  const cidr = cidrOf(block);
  return cidr === undefined ? block : cidrText(cidr);
}

function kindOf(block: string, ledger: Pick<BlockLedger, 'poolOf'>): string {
  const cidr = cidrOf(block);
  if (cidr === undefined) return 'unreadable';
  const pool = ledger.poolOf(cidr)?.pool;
  return `${familyNames[cidr.family]} /${cidr.length} of ${pool === undefined ? 'no pool' : `pool ${pool}`}`;
}

/** Says what is wrong with a block that the object shows. It asks the index of the ledger who else has it: many may share much. */
function faultsAmong(
  { uid }: Pick<Holder, 'uid'>,
  sharing: GivenBlocks['sharing'],
  ledger: Pick<BlockLedger, 'isReserved' | 'othersHolding'>,
): (block: string) => string {
  const byUid = new Map(sharing.map((each) => [each.uid, each]));
  return (block) => {
    const cidr = cidrOf(block);
    if (cidr === undefined) return '';
    const hasPart = (text: string): boolean => {
      const held = cidrOf(text);
      return held !== undefined && overlaps(held, cidr);
    };
    const others = ledger.othersHolding([cidr], uid).flatMap((other) => byUid.get(other) ?? []);
    const other = others.find(({ blocks }) => blocks.some(hasPart));
    if (other !== undefined) return ` that ${other.name} has`;
    return ledger.isReserved(cidr) ? ' of Services' : '';
  };
}

function countsOf(kinds: readonly string[]): readonly string[] {
  return [...Map.groupBy(kinds.toSorted(), (kind) => kind)].map(([kind, { length }]) => `${length} ${kind}`);
}

/** Empty for nothing. */
function inWords(verb: string, counts: readonly string[]): string {
  if (counts.length === 0) return '';
  const others = counts.length > maxNamed ? ['others'] : [];
  return `${verb} ${[...counts.slice(0, maxNamed), ...others].join(' and ')}`;
}
