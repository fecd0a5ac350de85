// Compares the updates of nodes that join while others shrink with the fewest possible: one a node.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { CloudFigure } from '../figure.ts';
import { besideReleases, inWords, planOf } from '../scenarios/beside-releases.ts';

export const updatesBesideReleases: CloudFigure = {
  name: 'updates-beside-releases',
  title: 'updates over the fewest, releases under way',
  unit: '×',
  limits: { azure: 1.1 },
  bound: 'atMost',
  // This figure needs little but time, which the small form does not have.
  inSmallForm: false,
  scenario: inWords,
  measure: async (context) => {
    const plan = planOf(context);
    const { calls } = await context.scenarios.played(plan, besideReleases);
    const { mutating } = callFigures(calls);
    return { measured: mutating / plan.nodes, details: callsInWords(calls) };
  },
};
