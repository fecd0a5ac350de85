// Chapter about failover in the middle of a release: a new controller recovers the state of every handshake.
import type { Chapter, ChapterContext } from '../chapter.ts';
import { isSettled } from '../picture.ts';
import { latePods } from './pods.ts';
import { takeover } from './takeover.ts';

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
