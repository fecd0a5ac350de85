// The report of pauses in /status: why activities do not start, and which.
import {
  type Activity,
  pausedBy,
  type PauseReason,
  pauseReasons,
  type Pauses,
} from '../../providers/gate/mutation-permission.ts';

/** Activities under the names that users know. */
const activityNames = {
  allocate: 'allocation',
  release: 'release',
  publish: 'ciliumnode-writes',
  notify: 'events',
} as const satisfies Record<Activity, string>;

type PausedActivity = (typeof activityNames)[Activity];

export interface PauseReport {
  readonly reason: PauseReason;
  readonly activities: readonly PausedActivity[];
  /** The CiliumNode of the last conflicting write, the parts written, and the writer. */
  readonly node?: string;
  readonly parts?: readonly string[];
  readonly manager?: string;
  /** The pause ends after this time without another conflicting write. */
  readonly quietInSeconds?: number;
}

export interface ReportedWrite {
  readonly node: string;
  readonly parts: readonly string[];
  readonly manager: string | undefined;
  /** The pause ends after this long without another such write, in ms. */
  readonly quietIn: number;
}

/** `write`: the last conflicting write, while it pauses anything. */
export function pauseReports(pauses: Pauses, write: ReportedWrite | undefined): readonly PauseReport[] {
  return pauseReasons.flatMap((reason) => {
    const paused = pausedBy(reason, pauses);
    if (paused.length === 0) return [];
    const last = reason === 'conflictingWriter' ? write : undefined;
    const activities = paused.map((activity) => activityNames[activity]);
    if (last === undefined) return [{ reason, activities }];
    const { node, parts, manager, quietIn } = last;
    const quietInSeconds = Math.round(quietIn / 1000);
    const known = { node, parts, ...(manager !== undefined && { manager }), quietInSeconds };
    return [{ reason, activities, ...known }];
  });
}
