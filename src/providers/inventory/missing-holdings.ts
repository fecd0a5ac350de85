// Decides which known addresses and prefixes of an interface a read does not show, and what follows.
import type { InterfaceRecord, Reading } from './interface-record.ts';
import { expandHolding, type NetworkInterface, secondaryAssignments } from '../contract/network-interface.ts';
import { type Withdrawal, withdrawalBy } from './withdrawals.ts';

const nothing: ReadonlyMap<string, number> = new Map();
const none: ReadonlySet<string> = new Set();

/** Addresses, prefixes of both families and the public address. */
export function holdingIds(item: NetworkInterface): string[] {
  const { publicAddress } = item;
  return [...secondaryAssignments(item), ...(publicAddress === undefined ? [] : [publicAddress])];
}

/** Known addresses and prefixes that the read does not miss. A different public address replaces the known one. */
function presentIn(shown: NetworkInterface, known: NetworkInterface): ReadonlySet<string> {
  const replaced = shown.publicAddress !== undefined && known.publicAddress !== undefined;
  return new Set([...holdingIds(shown), ...(replaced ? [known.publicAddress] : [])]);
}

/** Holdings that were known but are not shown: kept for the next refresh, gone by this one, or left open by a listing. */
export interface Missing {
  readonly kept: ReadonlyMap<string, number>;
  /** The part of `kept` that waits for the withdrawal gate. */
  readonly proven: ReadonlySet<string>;
  readonly gone: ReadonlySet<string>;
  readonly unlisted: ReadonlySet<string>;
  /** Whether this very read misses all of `kept`. */
  readonly isAnew?: boolean;
}

const nothingMissing: Missing = { kept: nothing, proven: none, gone: none, unlisted: none };

/**
 * An answer that is stale, or that does not fit the interface, says nothing about what it omits. `seen`: the interface in an
 * answer that is not stale. What it shows is there.
 */
export function missingAsBefore(record: InterfaceRecord, seen: NetworkInterface | undefined): Missing {
  const { interface: item, missing, proven, unlistedHoldings } = record;
  const present = seen === undefined ? none : presentIn(seen, item);
  const isAbsent = (id: string): boolean => id !== item.id && !present.has(id);
  return {
    kept: new Map([...missing].filter(([holding]) => isAbsent(holding))),
    proven: new Set([...proven].filter(isAbsent)),
    gone: none,
    unlisted: new Set([...unlistedHoldings].filter(isAbsent)),
  };
}

/**
 * A changing interface shows what comes as well as what it has: what it lacked and shows again is neither missing nor back
 * before the change has ended, and what only a CiliumNode showed is not yet there.
 */
export function missingWhileChanging(record: InterfaceRecord, seen: NetworkInterface): Missing {
  const present = presentIn(seen, record.interface);
  const shown = [...record.missing.keys(), ...record.unseen].filter((holding) => present.has(holding));
  const before = missingAsBefore(record, seen);
  return { ...before, unlisted: new Set([...record.unlistedHoldings, ...shown]) };
}

export function missingFrom(record: InterfaceRecord, shown: NetworkInterface, reading: Reading): Missing {
  const present = presentIn(shown, record.interface);
  const absent = holdingIds(record.interface).filter(
    (holding) =>
      !present.has(holding) && (reading.terminated || !isYoung(record.added.get(holding), reading)),
  );
  if (absent.length === 0) return nothingMissing;
  if (reading.terminated) return { ...nothingMissing, gone: new Set(absent) };
  if (reading.scope === 'listing') {
    const unlisted = new Set(absent);
    const kept = new Map([...record.missing].filter(([holding]) => unlisted.has(holding)));
    return { kept, proven: new Set([...record.proven].filter((id) => kept.has(id))), gone: none, unlisted };
  }
  const kept = new Map(
    absent.map((holding) => [holding, record.missing.get(holding) ?? reading.endedAt] as const),
  );
  const { gated = [], now = [] } = Object.groupBy(absent, (holding) =>
    withdrawalOf(holding, record, reading),
  );
  for (const holding of now) kept.delete(holding);
  const proven = gated.length === 0 ? none : new Set(gated);
  return {
    ...nothingMissing,
    kept,
    proven,
    isAnew: true,
    gone: now.length === 0 ? none : new Set(now),
  };
}

function withdrawalOf(
  holding: string,
  { interface: item, missing, releasing }: InterfaceRecord,
  { startedAt: readAt, consistencyWindow, scope, givenUp }: Reading,
): Withdrawal {
  const withdrawal = withdrawalBy({
    kind: 'missing',
    byId: scope === 'refresh',
    ownerShown: true,
    missedAt: missing.get(holding),
    readAt,
    consistencyWindow,
    isReleasing: releasing.has(holding) || isGivenUp(holding, givenUp),
  });
  // No pod uses the public address, so the gate does not apply.
  return withdrawal === 'gated' && holding === item.publicAddress ? 'now' : withdrawal;
}

/** A prefix is released as a whole: it is given up only if the agent gave up every address in it. */
export function isGivenUp(holding: string, givenUp: ReadonlySet<string>): boolean {
  return givenUp.size > 0 && expandHolding(holding).every((address) => givenUp.has(address));
}

/**
 * Regroups addresses as the read shows them. A prefix shown as single addresses is not gone, nor is an address shown
 * inside a prefix.
 */
export function regrouped(record: InterfaceRecord, shown: NetworkInterface): InterfaceRecord {
  const { interface: item, added, unseen } = record;
  const singles = new Set(shown.addresses);
  const isSplit = (prefix: string): boolean =>
    !shown.prefixes.includes(prefix) &&
    !added.has(prefix) &&
    expandHolding(prefix).some((address) => singles.has(address));
  const split = singles.size === 0 ? [] : item.prefixes.filter(isSplit);
  const merged = new Set(
    shown.prefixes.filter((prefix) => !item.prefixes.includes(prefix)).flatMap(expandHolding),
  );
  const isMerged = (address: string): boolean => merged.has(address);
  if (split.length === 0 && !item.addresses.some(isMerged)) return record;
  const members = split.flatMap(expandHolding);
  return {
    ...record,
    interface: {
      ...item,
      addresses: [...new Set([...item.addresses, ...members])].filter((address) => !isMerged(address)),
      prefixes: item.prefixes.filter((prefix) => !split.includes(prefix)),
    },
    missing: new Map([...record.missing].filter(([id]) => !split.includes(id) && !isMerged(id))),
    proven: new Set([...record.proven].filter((id) => !split.includes(id) && !isMerged(id))),
    unseen: new Set([...unseen].filter((id) => !split.includes(id) && !isMerged(id))),
  };
}

/** Whether our own call made the change so late that the read need not show it. */
export function isYoung(addedAt: number | undefined, reading: Reading): boolean {
  return addedAt !== undefined && reading.startedAt < addedAt + reading.consistencyWindow;
}

export function stillYoung(
  added: ReadonlyMap<string, number>,
  reading: Reading,
): ReadonlyMap<string, number> {
  const young = [...added].filter(([, at]) => isYoung(at, reading));
  if (young.length === added.size) return added;
  return young.length === 0 ? nothing : new Map(young);
}
