// Chapter about failover: the controller dies in the middle of a release, and a new one recovers the state.
import type { Chapter, ChapterContext } from '../chapter.ts';
import type { Departures } from '../departures.ts';
import { isSettled } from '../picture.ts';
import { latePods } from './pods.ts';

export function failover(context: ChapterContext): Chapter {
  const late = latePods(context.nodes);
  let hasGoneOn = false;
  /** Addresses released before the new controller leads. Calls of the dead one may end after its death. */
  let before = 0;
  let now = 0;
  let leadsAt: number | undefined;
  return {
    title: 'SIGKILL and recovery',
    hints: [
      'The controller is killed in the middle of that, and another is started that knows nothing of it. It leads when the',
      "dead one's Lease has ended, takes over every open handshake, and takes nothing away in its first 20 s: calls of the",
      `dead one may be in flight. Until then ${late.pods} new pods live on what their nodes have to spare.`,
    ],
    longest: Infinity,
    begin: ({ departures }) => {
      const killed = context.controllerPid();
      context.replaceController();
      context.report(
        `KILLED process ${killed ?? '?'} with SIGKILL, started process ${context.controllerPid() ?? '?'}`,
      );
      context.report(`left behind: ${inWords(departures)}`);
      context.run(late);
    },
    onLogLine: ({ message }) => {
      if (message !== 'leading' || leadsAt !== undefined) return;
      leadsAt = now;
      context.report(
        `TAKEN OVER ${(now / 1000).toFixed(1)} s after the kill: it leads, and looks where things stand`,
      );
    },
    watch: ({ picture, elapsed }) => {
      now = elapsed;
      if (leadsAt === undefined) before = picture.departures.unassigned;
      if (leadsAt !== undefined && !hasGoneOn && picture.departures.unassigned > before) {
        hasGoneOn = true;
        const seconds = ((elapsed - leadsAt) / 1000).toFixed(1);
        context.report(
          `RESUMES ${seconds} s later: the first address is unassigned since; no pod has lost its own`,
        );
      }
      return leadsAt !== undefined && isSettled(picture, true) ? 'over' : 'running';
    },
  };
}

function inWords({ marked, ready, released, hidden, unassigned }: Departures): string {
  return `${marked} addresses marked, ${ready} ready, ${released} released but not forgotten, ${hidden} hidden; ${unassigned} unassigned so far`;
}
