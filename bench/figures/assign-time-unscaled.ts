// Measures how long nodes that need one assignment take, over the least time that the real limits of EC2 allow.
import type { CloudFigure } from '../figure.ts';
import { inWords, oneAssignUnscaled } from '../scenarios/scale-up-forms.ts';
import { timeOverFloor } from '../scenarios/time-over-floor.ts';

export const assignTimeUnscaled: CloudFigure = {
  name: 'assign-time-unscaled',
  title: 'time over the least, one assign, unscaled',
  unit: '×',
  limits: { aws: 1.05, azure: 1.15 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: inWords(oneAssignUnscaled),
  measure: (context) => timeOverFloor(context, oneAssignUnscaled),
};
