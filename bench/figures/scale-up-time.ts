// Measures how long a scale-up takes over the least time that scaled limits allow.
import type { CloudFigure } from '../figure.ts';
import { createAndAttach, inWords } from '../scenarios/scale-up-forms.ts';
import { timeOverFloor } from '../scenarios/time-over-floor.ts';

export const scaleUpTime: CloudFigure = {
  name: 'scale-up-time',
  title: 'time over the least, scaled',
  unit: '×',
  limits: { aws: 1.05 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: inWords(
    createAndAttach,
    'From the first CiliumNode written to the last seen with 8 addresses, over (nodes − capacity) / refill of the tightest bucket + one create and attach.',
  ),
  measure: (context) => timeOverFloor(context, createAndAttach),
};
