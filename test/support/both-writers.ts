// For how long two programs write the same objects, as a judge sees it who trusts nobody: a Headwater that has nothing to write
// may still write. It has stopped once it says so, and serves none of those that want something afterwards.
import type { VirtualClock } from './virtual-clock.ts';

/** The longest that both may write, in ms. */
export const longestBothWrite = 15_000;
/** Headwater has so long to serve those that want something, in ms. */
const watched = 60_000;

export interface TwoWriters {
  readonly clock: VirtualClock;
  /** Whether Headwater says that it writes nothing because of another writer. */
  readonly hasStopped: () => boolean;
  /** Times of all that Headwater changes, in monotonic ms. */
  readonly changes: () => readonly number[];
  /** Ends the other writer, and lets somebody want what Headwater would give at once. */
  readonly want: () => Promise<void>;
}

/** From `began`, the first write of the other one, in monotonic ms. Infinity if Headwater never says that it has stopped. */
export async function bothWrote(
  { clock, hasStopped, changes, want }: TwoWriters,
  began: number,
): Promise<number> {
  const end = began + longestBothWrite;
  if (!(await clock.runUntil(hasStopped, end - clock.monotonic()))) return Infinity;
  const said = clock.monotonic();
  await clock.advance(end - said);
  await want();
  await clock.advance(watched);
  return hasStopped() ? Math.max(said, ...changes()) - began : Infinity;
}
