// Decides what moves between interfaces: an address or prefix is on only one interface of a network. Changes nothing;
// each function returns what must change.
import { whenReleased } from './apply-answer.ts';
import { lackedBy } from './apply-reading.ts';
import type { InterfaceRecord, Reading } from './interface-record.ts';
import { holdingIds } from './missing-holdings.ts';
import {
  expandHolding,
  allAssignments,
  hasAddress,
  isPrimaryInterface,
  type NetworkInterface,
} from '../contract/network-interface.ts';

type Interfaces = ReadonlyMap<string, InterfaceRecord>;

/**
 * Returns whether our own calls gave no part of an address or prefix to another interface after `since`, in monotonic
 * ms. -Infinity covers every such call of this process.
 */
export function notReassigned(
  interfaces: Interfaces,
  interfaceId: string,
  since: number,
): (holding: string) => boolean {
  const given = new Set<string>();
  for (const [id, { interface: item, added, joinedAt }] of interfaces) {
    if (id === interfaceId) continue;
    const young = [...added].filter(([, at]) => at > since).map(([holding]) => holding);
    const ours = joinedAt > since ? allAssignments(item) : young;
    for (const address of ours.flatMap(expandHolding)) given.add(address);
  }
  return (holding) => !expandHolding(holding).some((address) => given.has(address));
}

/** The other interfaces of the network that still hold what one interface was given at `at`, without it. */
export function othersWithout(
  interfaces: Interfaces,
  interfaceId: string,
  given: readonly string[],
  at: number,
): ReadonlyMap<string, InterfaceRecord> {
  const isGiven = anyOf(given);
  const changed = new Map<string, InterfaceRecord>();
  for (const [id, record] of othersOf(interfaces, interfaceId)) {
    const moved = holdingIds(record.interface).filter(isGiven);
    if (moved.length > 0) changed.set(id, whenReleased(record, moved, at));
  }
  return changed;
}

/**
 * The other interfaces of the network whose primary address one interface was given: an interface keeps it for life, so
 * they were deleted. An instance keeps its primary interface for life, so that one stays.
 */
export function displacedBy(
  interfaces: Interfaces,
  interfaceId: string,
  given: readonly string[],
): readonly string[] {
  const isGiven = anyOf(given);
  return othersOf(interfaces, interfaceId)
    .filter(([, { interface: item }]) => isGiven(item.primaryAddress) && !isPrimaryInterface(item))
    .map(([id]) => id);
}

/** Whether an address or prefix overlaps with one of these. */
function anyOf(given: readonly string[]): (holding: string) => boolean {
  const addresses = new Set(given.flatMap(expandHolding));
  return (holding) => expandHolding(holding).some((each) => addresses.has(each));
}

/** The other interfaces of its network; of all networks if the interface is unknown. */
function othersOf(interfaces: Interfaces, interfaceId: string): readonly [string, InterfaceRecord][] {
  const networkId = interfaces.get(interfaceId)?.interface.networkId;
  return [...interfaces].filter(
    ([id, { interface: item }]) => id !== interfaceId && (networkId ?? item.networkId) === item.networkId,
  );
}

/** Removes addresses and prefixes from interfaces where an applied refresh shows them on another interface instead. */
export function withoutMoved(
  interfaces: Interfaces,
  shown: ReadonlyMap<string, NetworkInterface>,
  reading: Reading,
): ReadonlyMap<string, InterfaceRecord> {
  const changed = new Map<string, InterfaceRecord>();
  for (const [id, record] of interfaces) {
    const lacked = lackedBy(record, shown.get(id), reading);
    const moved = lacked.filter((holding) => isOnAnother(holding, record.interface, shown, interfaces));
    if (moved.length > 0) changed.set(id, whenReleased(record, moved, reading.endedAt));
  }
  return changed;
}

/** Whether a refresh shows it on another interface of the same network whose record also has it. */
function isOnAnother(
  holding: string,
  { id: ownId, networkId }: NetworkInterface,
  shown: ReadonlyMap<string, NetworkInterface>,
  interfaces: Interfaces,
): boolean {
  const addresses = new Set(expandHolding(holding));
  return [...shown.values()].some((other) => {
    const item = interfaces.get(other.id)?.interface;
    if (other.id === ownId || item === undefined || item.networkId !== networkId) return false;
    const known = new Set(allAssignments(item));
    return allAssignments(other).some(
      (each) => known.has(each) && expandHolding(each).some((one) => addresses.has(one)),
    );
  });
}

/**
 * Interfaces that were removed, and addresses that were released from existing ones and are on none now. A prefix is left
 * as its addresses: one of them may have been assigned again on its own.
 */
export function withdrawnFrom(interfaces: Interfaces, gone: readonly string[]): ReadonlySet<string> {
  const all = [...interfaces.values()];
  const present = new Set(
    all.flatMap(({ interface: item }) => [item.id, ...allAssignments(item).flatMap(expandHolding)]),
  );
  const released = all.flatMap((record) => [...record.released.keys()]);
  return new Set([...gone, ...released].flatMap(expandHolding).filter((each) => !present.has(each)));
}

/**
 * The proof of a read by id about an address on an instance with these interfaces; `isShown` is what it shows. Undefined
 * if our own calls gave or released the address too late for the read to show it.
 */
export function answerAbout(
  interfaces: Interfaces,
  { address, networkId }: { readonly address: string; readonly networkId: string },
  read: { readonly isShown: boolean; readonly readAt: number; readonly consistencyWindow: number },
): boolean | undefined {
  for (const record of interfaces.values()) {
    if (record.interface.networkId !== networkId) continue;
    const changedAt = read.isShown ? whenTaken(record, address) : assignedAt(record, address);
    if (read.readAt < changedAt + read.consistencyWindow) return undefined;
  }
  return read.isShown;
}

/** When our own calls last released the address from the interface, in monotonic ms; -Infinity if never. */
function whenTaken({ released }: InterfaceRecord, address: string): number {
  const times = [...released].filter(([holding]) => expandHolding(holding).includes(address));
  return Math.max(-Infinity, ...times.map(([, at]) => at));
}

/** When our own calls last gave the interface the address, or attached the interface with it; -Infinity if never. */
function assignedAt({ interface: item, added, joinedAt }: InterfaceRecord, address: string): number {
  if (!hasAddress(item, address)) return -Infinity;
  const times = [...added].filter(([holding]) => expandHolding(holding).includes(address));
  return Math.max(joinedAt, ...times.map(([, at]) => at));
}
