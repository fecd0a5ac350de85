// Compares the blocks that another program gave to an object with those that a dry run would have given. Blocks of one pool,
// family and mask size are alike, unless somebody else has one. Pure.
import type { DryRunOutcome } from '../../controller/reporting/other-decisions.ts';
import type { GivenBlocks } from '../allocation/allocator-event.ts';
import type { BlockLedger } from '../allocation/block-ledger.ts';
import { cidrOf, cidrText, familyNames, overlaps } from '../set/cidr.ts';

type Shown = GivenBlocks['before'];

/** Undefined if it shows no more blocks than before: an agent returns its own. */
export function comparedBlocks(
  { holder, before, plan, sharing }: GivenBlocks,
  ledger: Pick<BlockLedger, 'isReserved' | 'poolOf'>,
): DryRunOutcome | undefined {
  const gained = addedTo(before, holder);
  if (gained.length === 0) return undefined;
  const planned = addedTo(before, plan);
  const did = inWords(gained.map((text) => `${kindOf(text, ledger)}${faultOf(text, sharing, ledger)}`));
  const would = inWords(planned.map((text) => kindOf(text, ledger)));
  if (did === would) return { kind: 'same' };
  const because = planned.length > 0 || plan.why === undefined ? '' : ` (${plan.why})`;
  return { kind: 'otherwise', would: `${would}${because}`, did };
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

function faultOf(
  block: string,
  sharing: GivenBlocks['sharing'],
  ledger: Pick<BlockLedger, 'isReserved'>,
): string {
  const cidr = cidrOf(block);
  if (cidr === undefined) return '';
  const hasPart = (text: string): boolean => {
    const held = cidrOf(text);
    return held !== undefined && overlaps(held, cidr);
  };
  const other = sharing.find(({ blocks }) => blocks.some(hasPart));
  if (other !== undefined) return ` that ${other.name} has`;
  return ledger.isReserved(cidr) ? ' of Services' : '';
}

function inWords(kinds: readonly string[]): string {
  const counts = [...Map.groupBy(kinds.toSorted(), (kind) => kind)];
  if (counts.length === 0) return 'nothing';
  return `give ${counts.map(([kind, { length }]) => `${length} ${kind}`).join(' and ')}`;
}
