// Chapter about failover: the controller dies in the middle of changes that it asked for.
import type { CallCounters } from '../../../simulator/cloud/call-counters.ts';
import type { Chapter, ChapterContext } from '../chapter.ts';
import type { Picture } from '../picture.ts';

export interface Changes {
  readonly title: string;
  readonly counters: CallCounters;
  /** The calls that ask for one. */
  readonly actions: readonly string[];
  /** How many the cloud works on. */
  readonly underWay: () => number;
  /** What they are and who works on them, as a sentence goes on. */
  readonly inWords: string;
  /** What to watch. */
  readonly hints: readonly string[];
  /** At how many of them the controller is killed. */
  readonly least: number;
  /** How long it waits for them, in ms. */
  readonly longest: number;
  /** Starts what they are needed for. */
  readonly begin: () => void;
  /** Starts what comes while there is no leader. */
  readonly meanwhile: () => void;
  /** Whether the new controller has mended everything. */
  readonly isMended: (picture: Picture) => boolean;
}

export function takeover(context: ChapterContext, changes: Changes): Chapter {
  let killedAt: number | undefined;
  let leadsAt: number | undefined;
  let hasGoneOn = false;
  let before = 0;
  let now = 0;
  const sent = (): number =>
    changes.actions.reduce((sum, action) => sum + changes.counters.get(action).calls, 0);
  const kill = (): void => {
    killedAt = now;
    const killed = context.controllerPid();
    const left = changes.underWay();
    context.replaceController();
    context.report(
      `KILLED process ${killed ?? '?'} with SIGKILL, started process ${context.controllerPid() ?? '?'}`,
    );
    context.report(`left behind: ${left} ${changes.inWords}`);
    changes.meanwhile();
  };
  const reportResumption = (since: number): void => {
    hasGoneOn = true;
    const seconds = ((now - since) / 1000).toFixed(1);
    context.report(`RESUMES ${seconds} s later: the first change that the new controller asks for`);
  };

  return {
    title: changes.title,
    hints: changes.hints,
    longest: Infinity,
    begin: changes.begin,
    onLogLine: ({ message }) => {
      if (message !== 'leading' || killedAt === undefined || leadsAt !== undefined) return;
      leadsAt = now;
      before = sent();
      context.report(
        `TAKEN OVER ${((now - killedAt) / 1000).toFixed(1)} s after the kill: it leads, and reads its nodes`,
      );
    },
    watch: ({ picture, elapsed }) => {
      now = elapsed;
      if (killedAt === undefined) {
        if (changes.underWay() < changes.least && elapsed < changes.longest) return 'running';
        kill();
      }
      if (leadsAt === undefined) return 'running';
      if (!hasGoneOn && sent() > before) reportResumption(leadsAt);
      return changes.isMended(picture) ? 'over' : 'running';
    },
  };
}
