// Measures how long nodes that need one assignment take, over the least time that the real limits of EC2 allow.
import type { Figure } from '../figure.ts';
import { inWords, oneAssignUnscaled } from '../scenarios/scale-up-forms.ts';
import { timeOverFloor } from '../scenarios/time-over-floor.ts';

export const assignTimeUnscaled: Figure = {
  name: 'assign-time-unscaled',
  title: 'time over the least, one assign, unscaled',
  unit: '×',
  limit: 1.05,
  bound: 'atMost',
  inSmallForm: false,
  scenario: inWords(oneAssignUnscaled),
  measure: (context) => timeOverFloor(context, oneAssignUnscaled),
};
