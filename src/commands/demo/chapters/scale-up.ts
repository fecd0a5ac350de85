// Chapter about growth: nodes join and pods arrive.
import type { Chapter, ChapterContext } from '../chapter.ts';
import { reportPods, webPods } from './pods.ts';

export function join(): Chapter {
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
