// What passes from one interface of an instance to another: an address or a prefix is on one interface of a network only.
// Nothing here changes what is held; each function says what is to change.
import { whenReleased } from './held-after-call.ts';
import { type HeldInterface, holdingsOf, lackedBy, type Reading } from './held-interface.ts';
import { addressesIn, allOn, type NetworkInterface } from './network-interface.ts';

type Interfaces = ReadonlyMap<string, HeldInterface>;

/**
 * Whether our own calls gave no other interface anything of a holding after that time, in monotonic ms; -Infinity: after
 * all that a predecessor wrote.
 */
export function notGivenToOthers(
  interfaces: Interfaces,
  interfaceId: string,
  since: number,
): (holding: string) => boolean {
  const given = new Set<string>();
  for (const [id, { record, added, joinedAt }] of interfaces) {
    if (id === interfaceId) continue;
    const young = [...added].filter(([, at]) => at > since).map(([holding]) => holding);
    const ours = joinedAt > since ? allOn(record) : young;
    for (const address of ours.flatMap(addressesIn)) given.add(address);
  }
  return (holding) => !addressesIn(holding).some((address) => given.has(address));
}

/** The other interfaces of its network that still have what one was given at `at`, without it. */
export function othersWithout(
  interfaces: Interfaces,
  interfaceId: string,
  given: readonly string[],
  at: number,
): ReadonlyMap<string, HeldInterface> {
  const addresses = new Set(given.flatMap(addressesIn));
  const isGiven = (holding: string): boolean => addressesIn(holding).some((each) => addresses.has(each));
  const networkId = interfaces.get(interfaceId)?.record.networkId;
  const changed = new Map<string, HeldInterface>();
  for (const [id, held] of interfaces) {
    if (id === interfaceId || (networkId ?? held.record.networkId) !== held.record.networkId) continue;
    const moved = holdingsOf(held.record).filter(isGiven);
    if (moved.length > 0) changed.set(id, whenReleased(held, moved, at));
  }
  return changed;
}

/** The interfaces that a look, which is folded in by now, shows without what it shows on another one, without that. */
export function withoutMoved(
  interfaces: Interfaces,
  shown: ReadonlyMap<string, NetworkInterface>,
  reading: Reading,
): ReadonlyMap<string, HeldInterface> {
  const changed = new Map<string, HeldInterface>();
  for (const [id, held] of interfaces) {
    const lacked = lackedBy(held, shown.get(id), reading);
    const moved = lacked.filter((holding) => isOnAnother(holding, held.record, shown, interfaces));
    if (moved.length > 0) changed.set(id, whenReleased(held, moved, reading.endedAt));
  }
  return changed;
}

/** Whether a look shows it on another interface of the same network, which is believed to have it. */
function isOnAnother(
  holding: string,
  { id: ownId, networkId }: NetworkInterface,
  shown: ReadonlyMap<string, NetworkInterface>,
  interfaces: Interfaces,
): boolean {
  const addresses = new Set(addressesIn(holding));
  return [...shown.values()].some((other) => {
    const held = interfaces.get(other.id)?.record;
    if (other.id === ownId || held === undefined || held.networkId !== networkId) return false;
    const known = new Set(allOn(held));
    return allOn(other).some(
      (each) => known.has(each) && addressesIn(each).some((one) => addresses.has(one)),
    );
  });
}
