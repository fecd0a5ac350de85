// Counts the reads for each update while nodes join and others shrink.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { CloudFigure } from '../figure.ts';
import { besideReleases, inWords, planOf } from '../scenarios/beside-releases.ts';

export const readsBesideReleases: CloudFigure = {
  name: 'reads-beside-releases',
  title: 'reads for each update, releases under way',
  unit: '×',
  limits: { azure: 2.2 },
  bound: 'atMost',
  // This figure needs little but time, which the small form does not have.
  inSmallForm: false,
  scenario: inWords,
  measure: async (context) => {
    const { calls } = await context.scenarios.played(planOf(context), besideReleases);
    const { mutating, reads } = callFigures(calls);
    return { measured: reads / mutating, details: callsInWords(calls) };
  },
};
