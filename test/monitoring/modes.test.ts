import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dashboards } from '../../monitoring/generate.ts';
import { firingTimes } from './rig/firing-times.ts';
import { epoch, type Played, played } from './rig/played-stages.ts';
import { withAllChosen } from './rig/selectors.ts';
import { shippedRules } from './rig/shipped.ts';
import { modeLength, modes } from './stages/modes.ts';

const { signal } = new AbortController();

let all: Played;

beforeAll(async () => {
  all = await played(modes, { signal });
});

afterAll(() => all.server.stop());

const panels = dashboards.flatMap(({ title, rows }) =>
  rows.flatMap((row) => row.panels.map((panel) => ({ name: `${title}: ${panel.title}`, ...panel }))),
);

/** Panels that show something. What a process measures of itself is not played. */
async function shownPanels(mode: string): Promise<readonly string[]> {
  const over = { start: epoch + 60, end: epoch + modeLength / 1000, step: 60 };
  const shown = await Promise.all(
    panels.map(async ({ name, queries }) => {
      const results = await Promise.all(
        queries.map(({ expr }) =>
          all.server.api.range(withAllChosen(expr.replaceAll('$cluster', mode)), over, signal),
        ),
      );
      return results.flat().length > 0 ? [name] : [];
    }),
  );
  return shown.flat();
}

async function firing(mode: string): Promise<readonly string[]> {
  const period = { start: epoch + 60, end: epoch + modeLength / 1000 };
  const fired = await Promise.all(
    shippedRules().map(async (rule) =>
      (await firingTimes(all, rule, period)).has(mode) ? [rule.alert] : [],
    ),
  );
  return fired.flat();
}

const everywhere = [
  'Headwater / Fleet: Nodes',
  'Headwater / Fleet: Nodes in deficit',
  'Headwater / Fleet: Nodes blocked',
  'Headwater / Fleet: Pending pods',
  'Headwater / Fleet: Nodes by state',
  'Headwater / Fleet: Nodes blocked by reason',
  'Headwater / Fleet: Oldest deficit',
  'Headwater / Fleet: Allocation latency',
  'Headwater / Fleet: Free blocks',
  'Headwater / Fleet: Nodes that wait for a block',
  'Headwater / Controller: Leaders',
  'Headwater / Controller: Changes paused',
  'Headwater / Controller: Leader',
  'Headwater / Controller: Conflicting writes',
  'Headwater / Controller: Watches',
  'Headwater / Controller: Versions',
];
const ofCiliumNodes = 'Headwater / Controller: Writes of CiliumNodes';

describe.each(modes.map(({ name }) => [name]))('the dashboards of %s', (mode) => {
  test('show what the mode has, and nothing of what it has not', async () => {
    const own = mode === 'nodeipam' ? everywhere : [...everywhere, ofCiliumNodes];

    expect((await shownPanels(mode)).toSorted()).toEqual(own.toSorted());
  });

  test('say that a node waits', async () => {
    const [waiting, blocked] = await Promise.all(
      ['Nodes in deficit', 'Nodes blocked'].map(async (title) => {
        const expr = panels.find((panel) => panel.title === title)?.queries[0]?.expr ?? '';
        return all.server.api.query(withAllChosen(expr.replaceAll('$cluster', mode)), signal, all.end);
      }),
    );

    expect([waiting?.[0]?.value[1], blocked?.[0]?.value[1]]).toEqual(['1', '1']);
  });

  test('come with alerts about the node, the pool and the pod, and no other', async () => {
    expect((await firing(mode)).toSorted()).toEqual([
      'HeadwaterBlocksNearlyGone',
      'HeadwaterNodesBlocked',
      'HeadwaterNodesInDeficit',
      'HeadwaterNodesWaitForBlock',
      'HeadwaterPodsPending',
    ]);
  });
});
