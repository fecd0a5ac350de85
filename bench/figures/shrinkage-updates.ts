// Compares the updates of a fleet that shrinks by half with the fewest possible: one a node.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { CloudFigure, Settings } from '../figure.ts';
import { shrinkage, type ShrinkagePlan } from '../scenarios/shrinkage.ts';

const planOf = ({ cloud, nodes, scale }: Settings): ShrinkagePlan => ({ cloud, nodes, scale });

export const shrinkageUpdates: CloudFigure = {
  name: 'shrinkage-updates',
  title: 'updates over the fewest, a fleet shrinks by half',
  unit: '×',
  limits: { azure: 1.1 },
  bound: 'atMost',
  // This figure needs little but time, which the small form does not have.
  inSmallForm: false,
  scenario: ({ nodes }) =>
    `${nodes} nodes with 16 addresses need 8 of them no longer, all at once, with releases on. One update releases what a node has too much.`,
  measure: async (context) => {
    const calls = await context.scenarios.played(planOf(context), shrinkage);
    const { mutating } = callFigures(calls);
    return { measured: mutating / context.nodes, details: callsInWords(calls) };
  },
};
