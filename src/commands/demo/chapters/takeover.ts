// Chapter about failover: the controller dies in the middle of changes, and a new one goes on with them.
import type { CallCounters } from '../../../simulator/cloud/call-counters.ts';
import type { Chapter, ChapterContext } from '../chapter.ts';
import { isSettled, type Picture } from '../picture.ts';
import { latePods } from './pods.ts';

export interface Changes {
  readonly title: string;
  /** Hints on what to watch. */
  readonly hints: readonly string[];
  /** Starts what they are needed for. */
  readonly beginChanges: () => void;
  /** Whether the controller is killed now, `elapsed` ms after the start of the chapter. */
  readonly isTime: (elapsed: number) => boolean;
  /** The work that is under way then. */
  readonly leftBehind: (picture: Picture) => string;
  /** Starts what comes while there is no leader. */
  readonly meanwhile: () => void;
  /** A number that grows with each change by which a controller goes on. */
  readonly progress: (picture: Picture) => number;
  /** The first such change of the new controller. */
  readonly resumption: string;
  /** Whether the new controller has mended everything. */
  readonly isMended: (picture: Picture) => boolean;
}

export function takeover(context: ChapterContext, changes: Changes): Chapter {
  let killedAt: number | undefined;
  let leadsAt: number | undefined;
  let hasGoneOn = false;
  /** Progress before the new controller leads. Calls of the dead one may end after its death. */
  let before = 0;
  let now = 0;
  const kill = (picture: Picture): void => {
    killedAt = now;
    const killed = context.controllerPid();
    const left = changes.leftBehind(picture);
    context.replaceController();
    context.report(
      `KILLED process ${killed ?? '?'} with SIGKILL, started process ${context.controllerPid() ?? '?'}`,
    );
    context.report(`left behind: ${left}`);
    changes.meanwhile();
  };

  return {
    title: changes.title,
    hints: changes.hints,
    beginChapter: changes.beginChanges,
    onLogLine: ({ message }) => {
      if (message !== 'leading' || killedAt === undefined || leadsAt !== undefined) return;
      leadsAt = now;
      context.report(
        `TAKEN OVER ${((now - killedAt) / 1000).toFixed(1)} s after the kill: it leads, and looks where things stand`,
      );
    },
    watch: ({ picture, elapsed }) => {
      now = elapsed;
      if (killedAt === undefined && changes.isTime(elapsed)) kill(picture);
      if (leadsAt === undefined) {
        before = changes.progress(picture);
        return 'running';
      }
      if (!hasGoneOn && changes.progress(picture) > before) {
        hasGoneOn = true;
        const seconds = ((now - leadsAt) / 1000).toFixed(1);
        context.report(`RESUMES ${seconds} s later: ${changes.resumption}`);
      }
      return changes.isMended(picture) ? 'over' : 'running';
    },
  };
}

/** Progress by calls to the cloud. */
export function byCalls(
  counters: CallCounters,
  actions: readonly string[],
): Pick<Changes, 'progress' | 'resumption'> {
  return {
    progress: () => actions.reduce((sum, action) => sum + counters.get(action).calls, 0),
    resumption: 'the first change that the new controller asks for',
  };
}

/** In the middle of a release: a new controller recovers the state of every handshake. */
export function failover(context: ChapterContext): Chapter {
  const late = latePods(context.nodes);
  return takeover(context, {
    title: 'SIGKILL and recovery',
    hints: [
      'The controller is killed in the middle of that, and another is started that knows nothing of it. It leads when the',
      "dead one's Lease has ended, takes over every open handshake, and takes nothing away in its first 20 s: calls of the",
      `dead one may be in flight. Until then ${late.pods} new pods live on what their nodes have to spare.`,
    ],
    beginChanges: () => undefined,
    isTime: () => true,
    leftBehind: ({ departures: { marked, ready, released, hidden, unassigned } }) =>
      `${marked} addresses marked, ${ready} ready, ${released} released but not forgotten, ${hidden} hidden; ${unassigned} unassigned so far`,
    meanwhile: () => context.run(late),
    progress: ({ departures }) => departures.unassigned,
    resumption: 'the first address is unassigned since; no pod has lost its own',
    isMended: (picture) => isSettled(picture, true),
  });
}
