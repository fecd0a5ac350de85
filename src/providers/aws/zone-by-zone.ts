// Reads a list zone by zone if it cannot be read as a whole, so one unreadable zone blocks no other. Reports
// each zone that is missing, so its content does not count as gone.
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { mayConcern } from '../contract/failure-policy.ts';
import type { ListedItems } from '../gate/action-client.ts';
import { isZoneName } from './ids.ts';

/** The most zones to read one by one: those of the largest regions, and some local zones. */
const maxZones = 10;

export interface ReadZones<T> extends ListedItems<T> {
  /** Zones that could not be read while others could. */
  readonly unread: ReadonlyMap<string, CloudFailure>;
}

/** `named`: the zone of each node. `ask`: reads all zones, or one. Rejects if no zone can be read. */
export async function zoneByZone<T>(
  named: readonly string[],
  signal: AbortSignal,
  ask: (zone?: string) => Promise<ListedItems<T>>,
): Promise<ReadZones<T>> {
  try {
    return { ...(await ask()), unread: new Map() };
  } catch (error) {
    signal.throwIfAborted();
    const zones = zonesToAsk(named);
    const mayBePartial = error instanceof CloudError && mayConcern(error.failure, 'part');
    if (zones.length < 2 || !mayBePartial) throw error;
    const read = await eachOf(zones, signal, ask);
    if (read.unread.size === zones.length) throw error;
    return read;
  }
}

async function eachOf<T>(
  zones: readonly string[],
  signal: AbortSignal,
  ask: (zone: string) => Promise<ListedItems<T>>,
): Promise<ReadZones<T>> {
  const unread = new Map<string, CloudFailure>();
  const parts = await Promise.all(
    zones.map((zone) =>
      ask(zone).catch((error: unknown) => {
        signal.throwIfAborted();
        if (!(error instanceof CloudError)) throw error;
        unread.set(zone, error.failure);
        return { startedAt: Infinity, items: [] };
      }),
    ),
  );
  const startedAt = Math.min(...parts.map((part) => part.startedAt));
  return { startedAt, items: parts.flatMap(({ items }) => items), unread };
}

/** Agents can name any zone. Reads the most frequently named ones, up to the number a region can have. */
function zonesToAsk(named: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const zone of named.filter(isZoneName)) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  const ranked = [...counts].sort(([a, max], [b, more]) => more - max || (a < b ? -1 : 1));
  return ranked.slice(0, maxZones).map(([zone]) => zone);
}
