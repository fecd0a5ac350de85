// Orders the chapters of the demonstration and bounds their time.
import type { Chapter, Stage } from './chapter.ts';
import { giveBack } from './chapters/release-addresses.ts';
import { lostAnswers } from './chapters/lost-answers.ts';
import { join, scaleUp } from './chapters/scale-up.ts';
import { shortSubnet } from './chapters/short-subnet.ts';
import { succession } from './chapters/succession.ts';

export function chaptersFor(stage: Stage): readonly Chapter[] {
  return [join(), scaleUp(stage), lostAnswers(stage), shortSubnet(stage), giveBack(stage), succession(stage)];
}

/** When everything must be settled, in ms since the start. */
export const lastMoment = 83_000;

/** When everything must be over, in ms since the start: the demonstration promises to end within 90 s. */
export const longestTime = 88_000;
