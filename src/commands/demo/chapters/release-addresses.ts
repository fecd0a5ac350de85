// Chapter about shrinking: pods leave, and their addresses are released with the agents' consent.
import type { Chapter, Stage } from '../chapter.ts';
import { departureOf, reportPods, webPods } from './pods.ts';
import { smallZoneNodes } from './small-zone.ts';

/** Delay of the other departures after those that the short node waits for, in ms. */
const headStart = 4000;
/** How long the middle stays on screen, in ms: by then some releases are done and most are not. */
const readingTime = 750;
const longest = 14_000;

export function giveBack(stage: Stage): Chapter {
  const web = webPods(stage.nodes);
  let since: number | undefined;
  return {
    title: 'scale-down',
    look: [
      'First the pods of the other node in the crowded zone leave, then most pods everywhere. Agents up to 1.19 are asked:',
      'marked, then ready (they agree), then released. Those from 1.20 drop addresses, which are hidden for a while first.',
    ],
    longest,
    begin: () => {
      const { generous } = smallZoneNodes(stage.cluster);
      stage.run(departureOf(reportPods(generous), 0, 500));
      stage.run(departureOf(web, headStart, 1500));
    },
    watch: ({ picture: { departures }, elapsed }) => {
      const { marked, ready, hidden, givenBack } = departures;
      const isInTheMiddle = marked + ready > 0 && marked + ready + hidden > stage.nodes / 2;
      // A small fleet may finish before the first check.
      if (elapsed >= longest) return givenBack > 0 ? 'over' : 'underway';
      if (!isInTheMiddle || elapsed < headStart + 3000) return 'underway';
      since ??= elapsed;
      return elapsed >= since + readingTime ? 'over' : 'underway';
    },
  };
}
