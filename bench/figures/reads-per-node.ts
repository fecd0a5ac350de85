// Measures the reads of the cloud for each node of a scale-up of 500.
import type { CloudFigure } from '../figure.ts';
import { readsOfNodes } from '../scenarios/reads-of-nodes.ts';
import { createAndAttachOf, inWords } from '../scenarios/scale-up-forms.ts';

const joining = createAndAttachOf(500);

export const readsPerNode: CloudFigure = {
  name: 'reads-per-node',
  title: 'reads for each of 500 nodes, whole scale-up',
  unit: '×',
  limits: { alibaba: 0.15 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: inWords(joining, 'Each page is a read; until no call comes any more.'),
  measure: (context) => readsOfNodes(context, joining),
};
