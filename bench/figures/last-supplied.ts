// Measures how long a scale-up of 500 nodes takes, beside the best peer that can be run.
import type { CloudFigure } from '../figure.ts';
import { tunedTerway } from '../peers/measured-peer.ts';
import { lastSuppliedOf } from '../scenarios/last-supplied.ts';
import { createAndAttachOf, inWords } from '../scenarios/scale-up-forms.ts';

const joining = createAndAttachOf(500);

export const lastSupplied: CloudFigure = {
  name: 'last-supplied',
  title: 'the last of 500 nodes supplied',
  unit: 's',
  limits: { alibaba: tunedTerway.seconds[500] },
  bound: 'atMost',
  inSmallForm: false,
  scenario: inWords(joining, tunedTerway.how),
  measure: (context) => lastSuppliedOf(context, joining),
};
