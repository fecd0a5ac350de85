// Measures how long a scale-up takes over the least time that another client's use of the limits allows.
import type { CloudFigure } from '../figure.ts';
import { besideAnother, inWords } from '../scenarios/scale-up-forms.ts';
import { timeOverFloor } from '../scenarios/time-over-floor.ts';

export const timeBesideAnother: CloudFigure = {
  name: 'time-beside-another',
  title: 'time over the least that is left beside another client',
  unit: '×',
  limits: { aws: 1.15 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: inWords(besideAnother),
  measure: (context) => timeOverFloor(context, besideAnother),
};
