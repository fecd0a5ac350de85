import { describe, expect, test } from '@jest/globals';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

interface Line {
  readonly at: number;
  readonly node: string;
  readonly what: string;
}

interface Fleet {
  readonly world: World;
  readonly controller: WorldController;
  /** What the agents did. */
  readonly lines: readonly Line[];
}

const nodes = 60;
const forever = new AbortController().signal;
/** Between a write and the moment when an agent has seen it, in ms, at most. */
const watchLag = 50;

/** Machines of multi-pool agents, in a cloud that answers at once. No agent has started. */
async function fleet(seed: string, addresses: number): Promise<Fleet> {
  const lines: Line[] = [];
  const world: World = new World({
    seed,
    cloud: testCloud({
      instances: [instance({ count: nodes, type: 'm5.xlarge', subnet: 'pods', addresses })],
      latency: { scale: 0 },
    }),
    configure: () => ({ protocol: 'multi-pool' }),
    onEvent: (line) => {
      const [, node = '', what = '', , status = ''] = line.split(' ');
      lines.push({ at: world.clock.monotonic(), node, what: `${what} ${status}`.trim() });
    },
  });
  const controller = startController(world);
  await world.advance(20_000);
  return { world, controller, lines };
}

/** Writes of agents that a write of the controller made fail. */
function conflicts({ controller, lines }: Fleet): readonly string[] {
  const ours = controller.publications.filter(({ status }) => status === 200);
  return lines
    .filter(({ what }) => what === 'write-refused 409')
    .filter((refused) =>
      ours.some(
        ({ at, path }) =>
          path.split('/')[5] === refused.node && at <= refused.at && at > refused.at - watchLag,
      ),
    )
    .map(({ at, node }) => `${node} at ${at}`);
}

/** From its CiliumNode until each agent serves pods, in ms. */
function readyTimes({ lines }: Fleet): readonly number[] {
  const announced = new Map<string, number>();
  for (const { at, node, what } of lines)
    if (what === 'written' && !announced.has(node)) announced.set(node, at);
  return lines
    .filter(({ what }) => what === 'agent-serving')
    .map(({ at, node }) => at - (announced.get(node) ?? NaN))
    .toSorted((a, b) => a - b);
}

describe('agents that write their CiliumNodes from what their watch shows', () => {
  test.each([
    ['as soon as it has its addresses', 'a', 8],
    ['as soon as it has its addresses', 'b', 8],
    ['that has some addresses', 'c', 4],
    ['that has none', 'd', 0],
    ['that has none', 'e', 0],
  ])('meet no write of ours at the join of a machine %s (seed %s)', async (_, seed, addresses) => {
    const joining = await fleet(seed, addresses);

    void joining.world.cluster.workload.start();
    await joining.world.advance(90_000);

    expect(conflicts(joining)).toEqual([]);
    expect(readyTimes(joining)).toHaveLength(nodes);
    expect(readyTimes(joining).at(-1)).toBeLessThan(1_500);
  });

  test('meet no write of ours when their addresses come a while after they asked', async () => {
    const joining = await fleet('late', 0);
    joining.world.fault('AssignPrivateIpAddresses', { kind: 'slow', ms: 25_000 });

    void joining.world.cluster.workload.start();
    await joining.world.advance(120_000);

    expect(conflicts(joining)).toEqual([]);
    expect(readyTimes(joining)).toHaveLength(nodes);
  });

  test('meet hardly a write of ours while pods come and go', async () => {
    const busy = await fleet('busy', 8);
    const { workload } = busy.world.cluster;
    void workload.start();
    const load = { arrivalsPerMinute: nodes * 4, meanLifetime: 120_000 };
    void workload.run({ kind: 'steady', name: 'web', ...load }, forever);
    await busy.world.advance(600_000);

    const written = busy.lines.filter(({ what }) => what === 'written').length;
    expect(written).toBeGreaterThan(1_000);
    expect(conflicts(busy).length).toBeLessThanOrEqual(written / 1_000);
  });
});
