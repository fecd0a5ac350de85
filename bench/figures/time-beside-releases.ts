// Measures how long nodes that join take while others shrink, over the least time that the limits allow without that.
import { growthOf } from '../clouds/clouds.ts';
import type { CloudFigure } from '../figure.ts';
import { floorOf } from '../floor.ts';
import { besideReleases, inWords, planOf } from '../scenarios/beside-releases.ts';

export const timeBesideReleases: CloudFigure = {
  name: 'time-beside-releases',
  title: 'time over the least, releases under way',
  unit: '×',
  limits: { azure: 1.15 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: inWords,
  measure: async (context) => {
    const plan = planOf(context);
    const { calls = [] } = growthOf({ ...plan, firstInterfaceIndex: 0 });
    const floor = floorOf({ nodes: plan.nodes / 2, scale: plan.scale, calls, share: 1 });
    const { seconds } = await context.scenarios.played(plan, besideReleases);
    return {
      measured: seconds / floor,
      details: `${seconds.toFixed(2)} s; the least without releases is ${floor.toFixed(2)} s`,
    };
  },
};
