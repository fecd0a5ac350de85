// Measures how long a scale-up takes over the least time that the real limits of EC2 allow.
import type { CloudFigure } from '../figure.ts';
import { createAndAttachUnscaled, inWords } from '../scenarios/scale-up-forms.ts';
import { timeOverFloor } from '../scenarios/time-over-floor.ts';

export const scaleUpTimeUnscaled: CloudFigure = {
  name: 'scale-up-time-unscaled',
  title: 'time over the least, unscaled',
  unit: '×',
  limits: { aws: 1.05 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: inWords(createAndAttachUnscaled),
  measure: (context) => timeOverFloor(context, createAndAttachUnscaled),
};
