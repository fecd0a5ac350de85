// Applies a read of the cloud to an interface record. A read adds addresses; withdrawals.ts decides what it may remove.
import type { AwaitedAttachment } from '../contract/facts.ts';
import type { InterfaceRecord, Reading } from './interface-record.ts';
import {
  isByName,
  type NetworkInterface,
  onlyWith,
  secondaryAssignments,
  withAssignments,
} from '../contract/network-interface.ts';
import {
  holdingIds,
  isYoung,
  type Missing,
  missingAsBefore,
  missingFrom,
  missingWhileChanging,
  regrouped,
  stillYoung,
} from './missing-holdings.ts';
import { merge, settled } from './merged-interface.ts';
import { type AbsenceEvidence, withdrawalBy } from './withdrawals.ts';

export interface ReadingOutcome {
  /** Undefined if the interface is believed to be gone. */
  readonly record: InterfaceRecord | undefined;
  /** The earliest time to refresh the instance; undefined if no refresh is needed. */
  readonly refreshDue: number | undefined;
}

const nothing: ReadonlyMap<string, number> = new Map();
const none: ReadonlySet<string> = new Set();

/** Delay between refreshes of an interface that is changing, as a fraction of the consistency window: usually 5 s. */
const changingPause = 1 / 6;

/** No read takes longer, in ms. */
const maxRead = 600_000;

/** An interface known from before a restart. */
export function restoredInterface(item: NetworkInterface): InterfaceRecord {
  return { ...firstRecord(item, -Infinity), unseen: new Set(holdingIds(item)) };
}

/** Adds what a newer restored state shows. Addresses that our own calls removed stay removed. */
export function withRestored(record: InterfaceRecord, restored: NetworkInterface): InterfaceRecord {
  const known = new Set([
    record.interface.primaryAddress,
    ...holdingIds(record.interface),
    ...record.released.keys(),
  ]);
  const isNew = (holding: string): boolean => !known.has(holding);
  const added = secondaryAssignments(restored).filter(isNew);
  // A leader shows an agent only what a read has shown.
  const seen = record.awaited === undefined ? record : { ...record, awaited: undefined };
  if (added.length === 0) return seen;
  return {
    ...seen,
    interface: withAssignments(record.interface, (known, kind) => [
      ...known,
      ...(restored[kind] ?? []).filter(isNew),
    ]),
    unseen: new Set([...record.unseen, ...added]),
  };
}

/** An interface first seen in a read. */
export function firstRecord(item: NetworkInterface, asOf: number): InterfaceRecord {
  return {
    interface: item,
    asOf,
    shownAt: asOf,
    joinedAt: -Infinity,
    awaited: undefined,
    added: nothing,
    released: nothing,
    releasing: nothing,
    missing: nothing,
    absentSince: undefined,
    proven: none,
    unclear: 'nothing',
    elsewhereAt: undefined,
    unlistedHoldings: none,
    unseen: none,
  };
}

export function whenFirstShown(seen: NetworkInterface, reading: Reading): ReadingOutcome {
  const shown = seen.condition === 'changing' ? onlyWith(seen, () => false) : seen;
  const { attachment } = shown;
  const awaited =
    attachment?.state === 'attaching'
      ? { attachmentId: attachment.id, since: reading.startedAt, isOverdue: false }
      : undefined;
  const record = { ...firstRecord(shown, reading.startedAt), awaited };
  return { record, refreshDue: nextRefresh(record, record, reading) };
}

export function whenShown(before: InterfaceRecord, seen: NetworkInterface, reading: Reading): ReadingOutcome {
  const known = isByName(before.interface) ? whenIdentified(before, seen) : before;
  const shown = withoutReleased(known, attachedAsWeKnow(known, settled(known, seen), reading), reading);
  const isFresh = reading.startedAt >= known.asOf;
  const record = isFresh ? regrouped(known, shown) : known;
  const missing = isFresh ? missingIn({ seen, shown }, record, reading) : missingAsBefore(record, undefined);
  const item = merge(record.interface, shown, isFresh, missing.gone);
  const next: InterfaceRecord = {
    interface: item,
    asOf: Math.max(record.asOf, reading.startedAt),
    shownAt: Math.max(record.shownAt, reading.startedAt),
    joinedAt: record.joinedAt,
    awaited: stillAwaited(record.awaited, seen, reading),
    added: stillYoung(record.added, reading),
    released: stillRemembered(record.released, reading),
    releasing: stillReleasing(record, item, shown, reading),
    missing: missing.kept,
    absentSince: undefined,
    proven: missing.proven,
    ...(missing.kept.size > 0 && missedBy(record, missing.isAnew === true ? reading : undefined)),
    unclear: 'nothing',
    elsewhereAt: undefined,
    unlistedHoldings: missing.unlisted,
    // Addresses that a changing interface keeps are not shown: only what the read itself shows is seen.
    unseen: isFresh ? stillUnseen(record, seen.condition === 'changing' ? seen : shown, item) : record.unseen,
  };
  return { record: next, refreshDue: nextRefresh(record, next, reading) };
}

/** `shown`: what is taken from what a fresh read has `seen`. */
function missingIn(
  { seen, shown }: { readonly seen: NetworkInterface; readonly shown: NetworkInterface },
  record: InterfaceRecord,
  reading: Reading,
): Missing {
  if (seen.condition === 'changing') return missingWhileChanging(record, seen);
  // An interface keeps its primary address for life. A read with a different primary proves nothing about what it omits.
  const isWhole = shown.primaryAddress === record.interface.primaryAddress;
  return isWhole ? missingFrom(record, shown, reading) : missingAsBefore(record, shown);
}

/** A read shows an interface that only a pool named: one of the addresses in the pool may be its primary address. */
function whenIdentified(record: InterfaceRecord, { primaryAddress }: NetworkInterface): InterfaceRecord {
  const stays = (holding: string): boolean => holding !== primaryAddress;
  return {
    ...record,
    interface: onlyWith(record.interface, stays),
    unseen: new Set([...record.unseen].filter(stays)),
  };
}

/** Addresses and prefixes that an applied read should show on the interface but does not. */
export function lackedBy(
  record: InterfaceRecord,
  shown: NetworkInterface | undefined,
  reading: Reading,
): readonly string[] {
  if (needNotShow(record, reading)) return [];
  const present = new Set(shown === undefined ? [] : holdingIds(shown));
  return secondaryAssignments(record.interface).filter(
    (holding) => !present.has(holding) && !isYoung(record.added.get(holding), reading),
  );
}

/** A read of the instance does not show the interface. */
export function whenAbsent(before: InterfaceRecord, reading: Reading): ReadingOutcome {
  if (needNotShow(before, reading)) return { record: before, refreshDue: undefined };
  const record = withAwaitedAfter(before, reading);
  const { startedAt, endedAt, consistencyWindow } = reading;
  // Changes by our own calls do not prove that it is still attached: a cloud can change a detached interface too.
  const refreshDue = Math.max(startedAt, record.asOf);
  if (reading.scope === 'listing') return { record: unclear(record, 'holdings'), refreshDue };
  const evidence = evidenceOfAbsence(record, reading);
  if (evidence.kind === 'missing' && startedAt < record.asOf) return { record, refreshDue };
  const since = record.absentSince ?? endedAt;
  switch (withdrawalBy(evidence)) {
    case 'now':
      return { record: undefined, refreshDue: undefined };
    case 'gated':
      return {
        record: { ...record, proven: new Set([record.interface.id]), ...missedBy(record, reading) },
        refreshDue: undefined,
      };
    case 'later':
      return {
        record: { ...record, absentSince: since, ...missedBy(record, reading) },
        refreshDue: since + consistencyWindow,
      };
    case 'never':
      return { record: unclear(record, 'all'), refreshDue: undefined };
  }
}

/** `reading`: the refresh that misses all of what is missing; undefined if the answer says nothing of some of it. */
function missedBy(
  { missedFrom, missedAt }: InterfaceRecord,
  reading: Reading | undefined,
): Pick<InterfaceRecord, 'missedFrom' | 'missedAt'> {
  const [from, at] = [missedFrom ?? reading?.startedAt, reading?.startedAt ?? missedAt];
  return { ...(from !== undefined && { missedFrom: from }), ...(at !== undefined && { missedAt: at }) };
}

function evidenceOfAbsence({ elsewhereAt, absentSince }: InterfaceRecord, reading: Reading): AbsenceEvidence {
  const { startedAt: readAt, consistencyWindow, whole, terminated } = reading;
  if (terminated) return { kind: 'terminated' };
  if (elsewhereAt !== undefined && readAt >= elsewhereAt)
    return { kind: 'interfaceElsewhere', shownAt: elsewhereAt, readAt };
  const found = { byId: true, ownerShown: whole, missedAt: absentSince, isReleasing: false };
  return { kind: 'missing', ...found, readAt, consistencyWindow };
}

/** AbsenceEvidence other than a refresh suggests that the instance may not have the interface. */
export function unclear(record: InterfaceRecord, what: 'holdings' | 'all'): InterfaceRecord {
  return record.unclear === what || record.unclear === 'all' ? record : { ...record, unclear: what };
}

/** A read that began at `shownAt` shows the interface detached or on another instance. */
export function whenElsewhere(record: InterfaceRecord, shownAt: number): InterfaceRecord {
  const elsewhereAt = Math.max(record.elsewhereAt ?? -Infinity, shownAt);
  return elsewhereAt === record.elsewhereAt ? record : { ...unclear(record, 'holdings'), elsewhereAt };
}

/** The record without what is proven gone; undefined if the interface itself is gone. */
export function withoutProven(record: InterfaceRecord): InterfaceRecord | undefined {
  return record.proven.has(record.interface.id) ? undefined : without(record, record.proven);
}

/** The interfaces without what only a CiliumNode shows. */
export function onlySeen(interfaces: ReadonlyMap<string, InterfaceRecord>): Map<string, InterfaceRecord> {
  const seen = [...interfaces].filter(([, { asOf }]) => asOf > -Infinity);
  return new Map(seen.map(([id, record]) => [id, without(record, record.unseen)]));
}

function without(record: InterfaceRecord, gone: ReadonlySet<string>): InterfaceRecord {
  if (gone.size === 0) return record;
  const stays = (holding: string): boolean => !gone.has(holding);
  return {
    ...record,
    interface: onlyWith(record.interface, stays),
    missing: new Map([...record.missing].filter(([holding]) => stays(holding))),
    unseen: new Set([...record.unseen].filter(stays)),
    proven: new Set([...record.proven].filter(stays)),
  };
}

/** Kept for reads that began before the release and end long after it: one waits for a rate limit, and newer ones do not. */
function stillRemembered(
  released: ReadonlyMap<string, number>,
  { endedAt }: Reading,
): ReadonlyMap<string, number> {
  const kept = [...released].filter(([, at]) => endedAt < at + maxRead);
  return kept.length === released.size ? released : new Map(kept);
}

/** The interface was attached, or shown by another read, too late for this read to include it. */
function needNotShow({ joinedAt, shownAt }: InterfaceRecord, reading: Reading): boolean {
  const { startedAt, consistencyWindow, terminated } = reading;
  return !terminated && startedAt < Math.max(joinedAt + consistencyWindow, shownAt);
}

/**
 * Holdings shown once the lost call can no longer take effect were not released. The change under way may be that call: its
 * end decides.
 */
function stillReleasing(
  { releasing }: InterfaceRecord,
  item: NetworkInterface,
  shown: NetworkInterface,
  { startedAt }: Reading,
): ReadonlyMap<string, number> {
  if (releasing.size === 0 || shown.condition === 'changing') return releasing;
  const holdings = new Set(holdingIds(item));
  const present = new Set(holdingIds(shown));
  return new Map(
    [...releasing].filter(([each, until]) => holdings.has(each) && (startedAt < until || !present.has(each))),
  );
}

function stillUnseen(
  { unseen }: InterfaceRecord,
  shown: NetworkInterface,
  item: NetworkInterface,
): ReadonlySet<string> {
  if (unseen.size === 0) return unseen;
  const present = new Set(holdingIds(shown));
  // An address that went may return with another interface; it is then no longer unconfirmed.
  const holdings = new Set(holdingIds(item));
  return new Set([...unseen].filter((holding) => holdings.has(holding) && !present.has(holding)));
}

/** Drops addresses that our own calls released: a read may still show them within the consistency window. */
function withoutReleased(
  record: InterfaceRecord,
  shown: NetworkInterface,
  reading: Reading,
): NetworkInterface {
  if (record.released.size === 0) return shown;
  const isThere = (holding: string): boolean => !isYoung(record.released.get(holding), reading);
  return onlyWith(shown, isThere);
}

/**
 * The wait ends with a read that shows the interface attached by our own call, or by any once the consistency window is
 * over. Within it, a read may show a former attachment to the same instance.
 */
function stillAwaited(
  awaited: InterfaceRecord['awaited'],
  { attachment }: NetworkInterface,
  reading: Reading,
): InterfaceRecord['awaited'] {
  if (awaited === undefined) return undefined;
  if (attachment?.state !== 'attached') return awaitedAfter(awaited, reading);
  const isThisOne = attachment.id === awaited.attachmentId || isPastWindow(awaited, reading);
  return isThisOne ? undefined : awaited;
}

/** `awaited` after a read that does not show it. */
function awaitedAfter(awaited: AwaitedAttachment, reading: Reading): AwaitedAttachment {
  return awaited.isOverdue || !isPastWindow(awaited, reading) ? awaited : { ...awaited, isOverdue: true };
}

function withAwaitedAfter(record: InterfaceRecord, reading: Reading): InterfaceRecord {
  const awaited = record.awaited && awaitedAfter(record.awaited, reading);
  return awaited === record.awaited ? record : { ...record, awaited };
}

function isPastWindow({ since }: AwaitedAttachment, { startedAt, consistencyWindow }: Reading): boolean {
  return startedAt >= since + consistencyWindow;
}

/** The cloud may show an attachment as `attaching` for a while after the attach call succeeded. */
function attachedAsWeKnow(
  record: InterfaceRecord,
  shown: NetworkInterface,
  reading: Reading,
): NetworkInterface {
  const { attachment } = shown;
  const young = reading.startedAt < record.joinedAt + reading.consistencyWindow;
  if (attachment?.state !== 'attaching' || record.interface.attachment?.state !== 'attached' || !young)
    return shown;
  return { ...shown, attachment: { ...attachment, state: 'attached' } };
}

/**
 * A listing that lacks an address triggers a refresh at once; a refresh that lacks it triggers a second one. An
 * attachment in progress also triggers one, because an interface gets addresses only once it is attached, and so does a
 * detachment, which frees a slot. While an interface is changing, reads decide nothing, so only the end of the change is
 * awaited, in steps.
 */
function nextRefresh(before: InterfaceRecord, after: InterfaceRecord, reading: Reading): number | undefined {
  if (after.interface.condition === 'changing')
    return reading.endedAt + reading.consistencyWindow * changingPause;
  const open = [...after.missing].filter(([holding]) => !after.proven.has(holding));
  const due = open.map(([, since]) => since + reading.consistencyWindow);
  // The call may have taken effect by then, or never will.
  due.push(...[...after.releasing.values()].filter((until) => reading.startedAt < until));
  if ((after.interface.attachment?.state ?? 'attached') !== 'attached')
    due.push(reading.startedAt + reading.consistencyWindow);
  if (after.unlistedHoldings.size > 0 && reading.startedAt >= before.asOf) due.push(reading.startedAt);
  return due.length === 0 ? undefined : Math.min(...due);
}
