// The uncertainty about interfaces: what may be gone, what no read has shown, and what is still awaited.
import type { InstanceView } from '../contract/facts.ts';
import type { InterfaceRecord } from './interface-record.ts';
import { holdingIds } from './missing-holdings.ts';

const nothing: InstanceView['awaited'] = new Map();
const none: ReadonlySet<string> = new Set();

/**
 * Ids of interfaces, addresses and prefixes that may already be gone, although two refreshes have not proved it. The
 * last refresh did not show them, a call with a lost answer may release them, or no read has shown them since they were
 * restored. If only a listing lacked the interface, it can still receive addresses until the next refresh; those are
 * unconfirmed like the rest.
 */
export function possiblyGoneIn(record: InterfaceRecord): readonly string[] {
  const {
    interface: item,
    absentSince,
    unclear,
    unlistedHoldings,
    asOf,
    missing,
    releasing,
    unseen,
  } = record;
  if (absentSince !== undefined || unclear === 'all' || asOf === -Infinity)
    return [item.id, ...holdingIds(item)];
  if (unclear === 'holdings') return holdingIds(item);
  if (missing.size + releasing.size + unseen.size + unlistedHoldings.size === 0) return [];
  return [...new Set([...missing.keys(), ...releasing.keys(), ...unseen, ...unlistedHoldings])];
}

/** The part known only from before this process: no read has shown it yet. */
function unseenAbout({ interface: item, asOf, unseen }: InterfaceRecord): readonly string[] {
  return asOf === -Infinity ? [item.id, ...unseen] : [...unseen];
}

/** Almost all instances share one empty set. */
function idsIn(
  interfaces: ReadonlyMap<string, InterfaceRecord>,
  idsOf: (record: InterfaceRecord) => readonly string[],
): ReadonlySet<string> {
  const ids = [...interfaces.values()].flatMap(idsOf);
  return ids.length === 0 ? none : new Set(ids);
}

/** The uncertain holdings of interfaces. */
export function uncertainIn(
  interfaces: ReadonlyMap<string, InterfaceRecord>,
): Pick<InstanceView, 'possiblyGone' | 'unseen' | 'awaited'> {
  const awaited = [...interfaces].flatMap(([id, record]) =>
    record.awaited === undefined ? [] : [[id, record.awaited] as const],
  );
  return {
    possiblyGone: idsIn(interfaces, possiblyGoneIn),
    unseen: idsIn(interfaces, unseenAbout),
    awaited: awaited.length === 0 ? nothing : new Map(awaited),
  };
}

/** The uncertainty about an interface as one string, for comparison. */
export function uncertaintyText(record: InterfaceRecord | undefined): string {
  if (record === undefined) return '';
  const { awaited, missing, unseen } = record;
  // While an interface is changing, what comes back stays uncertain for another reason.
  return [awaited?.since, awaited?.isOverdue, missing.size, unseen.size, ...possiblyGoneIn(record)].join();
}
