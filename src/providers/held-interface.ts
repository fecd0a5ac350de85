// What Headwater holds of one interface of an instance, and how a reading of the cloud changes it. A reading adds; it
// takes away only what two looks at the instance, a consistency window apart, did not show (EC2 is eventually
// consistent: one answer without an address proves nothing).
import { addressesIn, type NetworkInterface } from './network-interface.ts';

export interface HeldInterface {
  readonly record: NetworkInterface;
  /** The newest of: the start of the last reading that showed it, the end of our own last write to it. */
  readonly asOf: number;
  /** The start of the last reading that showed it. */
  readonly shownAt: number;
  /** When our own write gave it to the instance; readings that began soon after need not show it yet. */
  readonly joinedAt: number;
  /** Addresses and prefixes that our own writes added, with the end of that write. */
  readonly added: ReadonlyMap<string, number>;
  /** Addresses and prefixes that our own writes took away, with the end of that write: readings may still show them. */
  readonly released: ReadonlyMap<string, number>;
  /** Addresses and prefixes that a look did not show, with the end of the first such look. */
  readonly missing: ReadonlyMap<string, number>;
  /** End of the first look that did not show the interface at all. */
  readonly absentSince: number | undefined;
  /** The last answer that could have shown it on the instance was a listing, and did not. */
  readonly unlisted: boolean;
  /** Addresses and prefixes that the last answer did not show on it, which was a listing. */
  readonly unlistedHoldings: ReadonlySet<string>;
  /** Addresses and prefixes that are remembered from before a restart and that no reading has shown so far. */
  readonly unseen: ReadonlySet<string>;
}

/** One complete answer of the cloud about an instance. */
export interface Reading {
  /** When the request was sent, and when its answer was complete, in monotonic ms. */
  readonly begunAt: number;
  readonly endedAt: number;
  /** A look asks for the instance by id; a listing may be torn between pages, so it can raise doubt but prove nothing. */
  readonly scope: 'look' | 'listing';
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
  /** Addresses that another instance claims too: for them one look decides. */
  readonly contested: ReadonlySet<string>;
  /** The instance is known to be terminated: what is not shown is gone. */
  readonly terminated: boolean;
}

export interface Verdict {
  /** Undefined when the interface is no longer believed to be there. */
  readonly held: HeldInterface | undefined;
  /** The instance should be looked at, at this time at the earliest. */
  readonly lookDue: number | undefined;
}

const nothing: ReadonlyMap<string, number> = new Map();
const none: ReadonlySet<string> = new Set();

/** An interface remembered from before a restart. */
export function recalledInterface(record: NetworkInterface): HeldInterface {
  return { ...firstHeld(record, -Infinity), unseen: new Set(holdingsOf(record)) };
}

/** The same with what a newer memory of it has besides; what our own calls took away stays away. */
export function withRecalled(held: HeldInterface, { addresses, prefixes }: NetworkInterface): HeldInterface {
  const known = new Set([held.record.primaryAddress, ...holdingsOf(held.record), ...held.released.keys()]);
  const isNew = (holding: string): boolean => !known.has(holding);
  const added = { addresses: addresses.filter(isNew), prefixes: prefixes.filter(isNew) };
  if (added.addresses.length + added.prefixes.length === 0) return held;
  return {
    ...held,
    record: {
      ...held.record,
      addresses: [...held.record.addresses, ...added.addresses],
      prefixes: [...held.record.prefixes, ...added.prefixes],
    },
    unseen: new Set([...held.unseen, ...added.addresses, ...added.prefixes]),
  };
}

/**
 * What may be gone already, although two looks have not proved it: ids of interfaces, addresses and prefixes that the last
 * look did not show, or that no reading has shown since they were recalled. Of what a listing did not show the look that
 * follows will tell: until then an interface is still good for more addresses, which are doubtful like the others.
 */
export function doubtsAbout(held: HeldInterface): readonly string[] {
  const { record, absentSince, unlisted, unlistedHoldings, asOf, missing, unseen } = held;
  if (absentSince !== undefined || asOf === -Infinity) return [record.id, ...holdingsOf(record)];
  if (unlisted) return holdingsOf(record);
  if (missing.size + unseen.size + unlistedHoldings.size === 0) return [];
  return [...new Set([...missing.keys(), ...unseen, ...unlistedHoldings])];
}

/** An interface first met in a reading. */
export function firstHeld(record: NetworkInterface, asOf: number): HeldInterface {
  return {
    record,
    asOf,
    shownAt: asOf,
    joinedAt: -Infinity,
    added: nothing,
    released: nothing,
    missing: nothing,
    absentSince: undefined,
    unlisted: false,
    unlistedHoldings: none,
    unseen: none,
  };
}

/** An interface that was not known was shown. */
export function whenFirstShown(shown: NetworkInterface, reading: Reading): Verdict {
  const held = firstHeld(shown, reading.begunAt);
  return { held, lookDue: nextLook(held, held, reading) };
}

/** A known interface was shown. */
export function whenShown(held: HeldInterface, seen: NetworkInterface, reading: Reading): Verdict {
  const shown = withoutReleased(held, attachedAsWeKnow(held, seen, reading), reading);
  const fresh = reading.begunAt >= held.asOf;
  const missing = fresh ? missingFrom(held, shown, reading) : missingAsBefore(held);
  const record = merge(held.record, shown, fresh, missing.gone);
  const next: HeldInterface = {
    record,
    asOf: Math.max(held.asOf, reading.begunAt),
    shownAt: Math.max(held.shownAt, reading.begunAt),
    joinedAt: held.joinedAt,
    added: stillYoung(held.added, reading),
    released: stillYoung(held.released, reading),
    missing: missing.kept,
    absentSince: undefined,
    unlisted: false,
    unlistedHoldings: missing.unlisted,
    unseen: stillUnseen(held, shown, record),
  };
  return { held: next, lookDue: nextLook(held, next, reading) };
}

/** Addresses and prefixes that a reading, which is folded in by now, should show on the interface, and does not. */
export function lackedBy(
  held: HeldInterface,
  shown: NetworkInterface | undefined,
  reading: Reading,
): readonly string[] {
  if (needNotShow(held, reading)) return [];
  const present = new Set(shown === undefined ? [] : holdingsOf(shown));
  const { addresses, prefixes } = held.record;
  return [...addresses, ...prefixes].filter(
    (holding) => !present.has(holding) && !isYoung(held.added.get(holding), reading),
  );
}

/** A complete answer did not show the interface. */
export function whenAbsent(held: HeldInterface, reading: Reading): Verdict {
  if (needNotShow(held, reading)) return { held, lookDue: undefined };
  // What our calls changed since is no proof that it is there: a cloud changes a detached interface as well.
  const isOlder = reading.begunAt < held.asOf && !reading.terminated;
  const lookDue = Math.max(reading.begunAt, held.asOf);
  if (reading.scope === 'listing')
    return { held: held.unlisted ? held : { ...held, unlisted: true }, lookDue };
  if (isOlder) return { held, lookDue };
  const since = held.absentSince ?? reading.endedAt;
  const proven = reading.terminated || reading.begunAt - since >= reading.consistencyWindow;
  if (proven || reading.contested.has(held.record.primaryAddress))
    return { held: undefined, lookDue: undefined };
  const record = withoutContested(held.record, reading);
  return { held: { ...held, record, absentSince: since }, lookDue: since + reading.consistencyWindow };
}

/** It was attached, or shown by another reading, too late for this one. */
function needNotShow({ joinedAt, shownAt }: HeldInterface, reading: Reading): boolean {
  const { begunAt, consistencyWindow, terminated } = reading;
  return !terminated && begunAt < Math.max(joinedAt + consistencyWindow, shownAt);
}

function stillUnseen(
  { unseen }: HeldInterface,
  shown: NetworkInterface,
  record: NetworkInterface,
): ReadonlySet<string> {
  if (unseen.size === 0) return unseen;
  const present = new Set(holdingsOf(shown));
  // What turned out to be gone may come back with another interface, and is in no doubt then.
  const held = new Set(holdingsOf(record));
  return new Set([...unseen].filter((holding) => held.has(holding) && !present.has(holding)));
}

/** Addresses, prefixes and the public address alike. */
export function holdingsOf({ addresses, prefixes, publicAddress }: NetworkInterface): string[] {
  return [...addresses, ...prefixes, ...(publicAddress === undefined ? [] : [publicAddress])];
}

/** What of the known holdings a reading does not miss. Another public address takes the place of the known one. */
function presentIn(shown: NetworkInterface, known: NetworkInterface): ReadonlySet<string> {
  const replaced = shown.publicAddress !== undefined && known.publicAddress !== undefined;
  return new Set([...holdingsOf(shown), ...(replaced ? [known.publicAddress] : [])]);
}

/** Of what was known and is not shown: what the next look decides, what this one did, and what a listing leaves open. */
interface Missing {
  readonly kept: ReadonlyMap<string, number>;
  readonly gone: ReadonlySet<string>;
  readonly unlisted: ReadonlySet<string>;
}

/** An answer that is older than what is known changes nothing of it. */
function missingAsBefore({ missing, unlistedHoldings }: HeldInterface): Missing {
  return { kept: missing, gone: none, unlisted: unlistedHoldings };
}

function missingFrom(held: HeldInterface, shown: NetworkInterface, reading: Reading): Missing {
  const present = presentIn(shown, held.record);
  const lacking = holdingsOf(held.record).filter(
    (holding) => !present.has(holding) && (reading.terminated || !isYoung(held.added.get(holding), reading)),
  );
  if (lacking.length === 0) return { kept: nothing, gone: none, unlisted: none };
  if (reading.scope === 'listing') {
    const unlisted = new Set(lacking);
    const kept = new Map([...held.missing].filter(([holding]) => unlisted.has(holding)));
    return { kept, gone: none, unlisted };
  }
  const gone = new Set(lacking.filter((holding) => isProven(holding, held.missing.get(holding), reading)));
  const open = lacking.filter((holding) => !gone.has(holding));
  const kept = new Map(open.map((holding) => [holding, held.missing.get(holding) ?? reading.endedAt]));
  return { kept, gone, unlisted: none };
}

function isProven(holding: string, since: number | undefined, reading: Reading): boolean {
  if (reading.terminated || isContested(holding, reading)) return true;
  return since !== undefined && reading.begunAt - since >= reading.consistencyWindow;
}

/** A prefix is contested along with any of its members. */
function isContested(holding: string, { contested }: Reading): boolean {
  if (contested.size === 0) return false;
  return addressesIn(holding).some((address) => contested.has(address));
}

function withoutContested(record: NetworkInterface, reading: Reading): NetworkInterface {
  const uncontested = (holding: string): boolean => !isContested(holding, reading);
  if (holdingsOf(record).every(uncontested)) return record;
  return {
    ...record,
    addresses: record.addresses.filter(uncontested),
    prefixes: record.prefixes.filter(uncontested),
  };
}

/** What we took away does not come back by a reading that may be older than the cloud's memory of it. */
function withoutReleased(held: HeldInterface, shown: NetworkInterface, reading: Reading): NetworkInterface {
  if (held.released.size === 0) return shown;
  const isThere = (holding: string): boolean => !isYoung(held.released.get(holding), reading);
  return {
    ...shown,
    addresses: shown.addresses.filter(isThere),
    prefixes: shown.prefixes.filter(isThere),
  };
}

/** The cloud may show an attachment as under way for a while after it has answered the call that made it. */
function attachedAsWeKnow(held: HeldInterface, shown: NetworkInterface, reading: Reading): NetworkInterface {
  const { attachment } = shown;
  const young = reading.begunAt < held.joinedAt + reading.consistencyWindow;
  if (attachment?.state !== 'attaching' || held.record.attachment?.state !== 'attached' || !young)
    return shown;
  return { ...shown, attachment: { ...attachment, state: 'attached' } };
}

function isYoung(addedAt: number | undefined, reading: Reading): boolean {
  return addedAt !== undefined && reading.begunAt < addedAt + reading.consistencyWindow;
}

function stillYoung(added: ReadonlyMap<string, number>, reading: Reading): ReadonlyMap<string, number> {
  const young = [...added].filter(([, at]) => isYoung(at, reading));
  if (young.length === added.size) return added;
  return young.length === 0 ? nothing : new Map(young);
}

/**
 * A listing that lacks an address asks for a look at once; a look that does asks for a second one. So does an attachment
 * that is under way, because an interface gets addresses only once it is attached.
 */
function nextLook(before: HeldInterface, after: HeldInterface, reading: Reading): number | undefined {
  const due = [...after.missing.values()].map((since) => since + reading.consistencyWindow);
  if (after.record.attachment?.state === 'attaching') due.push(reading.begunAt + reading.consistencyWindow);
  if (after.unlistedHoldings.size > 0 && reading.begunAt >= before.asOf) due.push(reading.begunAt);
  return due.length === 0 ? undefined : Math.min(...due);
}

/** Order of addresses is kept and new ones follow, so that what is published changes no more than the cloud did. */
function merge(
  known: NetworkInterface,
  shown: NetworkInterface,
  fresh: boolean,
  gone: ReadonlySet<string>,
): NetworkInterface {
  const addresses = union(known.addresses, shown.addresses, gone);
  const prefixes = union(known.prefixes, shown.prefixes, gone);
  const told = fresh ? shown : known;
  const kept = gone.has(known.publicAddress ?? '') ? undefined : known.publicAddress;
  return { ...told, publicAddress: told.publicAddress ?? kept, addresses, prefixes };
}

function union(
  known: readonly string[],
  shown: readonly string[],
  gone: ReadonlySet<string>,
): readonly string[] {
  const merged = new Set(known);
  for (const item of shown) merged.add(item);
  for (const item of gone) merged.delete(item);
  return [...merged];
}
