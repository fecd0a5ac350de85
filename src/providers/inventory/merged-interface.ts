// Joins what is known of an interface with what a read shows: the newer one decides, and what it lacks is not gone.
import { type NetworkInterface, withAssignments } from '../contract/network-interface.ts';
import type { InterfaceRecord } from './interface-record.ts';

/** Keeps the order of known addresses and appends new ones, so published objects change only when the cloud does. */
export function merge(
  known: NetworkInterface,
  shown: NetworkInterface,
  fresh: boolean,
  gone: ReadonlySet<string>,
): NetworkInterface {
  const addresses = union(known.addresses, shown.addresses, gone);
  const latest = fresh ? withMarks(shown, known, addresses) : withMarks(known, shown, addresses);
  const kept = gone.has(known.publicAddress ?? '') ? undefined : known.publicAddress;
  const item = { ...latest, publicAddress: latest.publicAddress ?? kept };
  return withAssignments(item, (_, kind) =>
    kind === 'addresses' ? addresses : union(known[kind] ?? [], shown[kind] ?? [], gone),
  );
}

/**
 * While an interface is changing, some of its addresses are not there yet and others may come back: it keeps exactly what
 * is known of it.
 */
export function settled({ interface: known }: InterfaceRecord, seen: NetworkInterface): NetworkInterface {
  if (seen.condition !== 'changing') return seen;
  const { primaryAddress, addresses, publicAddress } = known;
  const kept = withAssignments(withMarks(seen, known, addresses), (_, kind) => known[kind] ?? []);
  return { ...kept, primaryAddress: seen.primaryAddress || primaryAddress, publicAddress };
}

const marks = ['associated', 'ofOthers'] as const;

/** For addresses that only the other one has, its word counts: nobody else says whose they are. */
function withMarks(
  latest: NetworkInterface,
  other: NetworkInterface,
  addresses: readonly string[],
): NetworkInterface {
  const isOnlyThere = (address: string): boolean =>
    addresses.includes(address) && !latest.addresses.includes(address);
  let marked = latest;
  for (const mark of marks) {
    const kept = other[mark]?.filter(isOnlyThere) ?? [];
    if (kept.length > 0) marked = { ...marked, [mark]: [...(latest[mark] ?? []), ...kept] };
  }
  return marked;
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

/** Whether a read changed nothing of what is known. */
export function isSame(known: object | undefined, shown: object | undefined): boolean {
  return known === shown || JSON.stringify(known) === JSON.stringify(shown);
}
