// Measures the reads of the cloud for each node of a scale-up of 100.
import type { CloudFigure } from '../figure.ts';
import { readsOfNodes } from '../scenarios/reads-of-nodes.ts';
import { createAndAttachOf, inWords } from '../scenarios/scale-up-forms.ts';

const joining = createAndAttachOf(100);

export const readsPerNodeOf100: CloudFigure = {
  name: 'reads-per-node-of-100',
  title: 'reads for each of 100 nodes, whole scale-up',
  unit: '×',
  limits: { alibaba: 0.5 },
  bound: 'atMost',
  inSmallForm: true,
  scenario: inWords(joining, 'Each page is a read; until no call comes any more.'),
  measure: (context) => readsOfNodes(context, joining),
};
