// Orders the chapters of the demonstration and bounds their time.
import type { Chapter, ChapterContext } from './chapter.ts';
import { releaseAddresses } from './chapters/release-addresses.ts';
import { lostAnswers } from './chapters/lost-answers.ts';
import { join, scaleUp } from './chapters/scale-up.ts';
import { exhaustedSubnet } from './chapters/exhausted-subnet.ts';
import { failover } from './chapters/failover.ts';

export function chaptersFor(context: ChapterContext): readonly Chapter[] {
  return [
    join(),
    scaleUp(context),
    lostAnswers(context),
    exhaustedSubnet(context),
    releaseAddresses(context),
    failover(context),
  ];
}

/** When everything must be settled, in ms since the start. */
export const lastMoment = 83_000;

/** When everything must be over, in ms since the start: the demonstration promises to end within 90 s. */
export const longestTime = 88_000;
