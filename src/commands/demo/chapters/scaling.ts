// Chapters about growth and shrinking: nodes join, pods arrive, and leave again.
import type { Chapter, ChapterContext, SmallSubnetNodes } from '../chapter.ts';
import { departureOf, reportPods, webPods } from './pods.ts';

export function joining(): Chapter {
  return {
    title: 'the nodes join',
    hints: [
      'Each gets 8 free addresses before its first pod (its pre-allocate watermark): held grows, pods do not wait.',
    ],
    beginChapter: () => undefined,
    watch: ({ picture: { nodes }, elapsed }) =>
      nodes.serving === nodes.total && elapsed >= 3000 ? 'over' : 'running',
  };
}

/** `generous`: the node whose pods take most of a small subnet. */
export function scaleUp(context: ChapterContext, cloud: string, generous: () => string): Chapter {
  const web = webPods(context.nodes);
  return {
    title: 'scale-up',
    hints: [
      `${web.pods} pods arrive within ${web.over / 1000} s: addresses come before the pods do, at the speed that the rate limits of ${cloud} allow.`,
    ],
    beginChapter: () => {
      context.run(reportPods(generous()));
      context.run(web);
    },
    watch: ({ picture: { pods }, elapsed }) =>
      elapsed >= web.over + 500 && pods.waiting === 0 ? 'over' : 'running',
  };
}

/** Delay of the other departures after those that the node in deficit waits for, in ms. */
const headStart = 4000;
/** How long the middle stays on screen, in ms: by then some releases are done and most are not. */
const readingTime = 750;
/** From then on, any release is enough to go on, in ms. */
const longest = 14_000;

/** Pods leave, and their addresses are released with the agents' consent. */
export function releaseAddresses(
  context: ChapterContext,
  { nodes, agents }: { readonly nodes: () => SmallSubnetNodes; readonly agents: string },
): Chapter {
  const web = webPods(context.nodes);
  let since: number | undefined;
  return {
    title: 'scale-down',
    hints: [
      'First the pods of the other node in the crowded zone leave, then most pods everywhere. Agents that are asked see an',
      `address marked, say that it is ready, and see it released. ${agents}`,
    ],
    beginChapter: () => {
      const { generous } = nodes();
      context.run(departureOf(reportPods(generous), 0, 500));
      context.run(departureOf(web, headStart, 1500));
    },
    watch: ({ picture: { departures }, elapsed }) => {
      const { marked, ready, hidden, unassigned } = departures;
      const isInTheMiddle = marked + ready > 0 && marked + ready + hidden > context.nodes / 2;
      // A small fleet may finish before the first check.
      if (elapsed >= longest) return unassigned > 0 ? 'over' : 'running';
      if (!isInTheMiddle || elapsed < headStart + 3000) return 'running';
      since ??= elapsed;
      return elapsed >= since + readingTime ? 'over' : 'running';
    },
  };
}
