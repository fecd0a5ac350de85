// Subnets that another account shares with that of the nodes, whose tags a role of that account reads.
import { describe, expect, test } from '@jest/globals';
import type { IamPolicy } from '../../../src/simulator/ec2/iam-policy.ts';
import type { EniOptions } from '../../../src/simulator/workload/node-facts.ts';
import { addTags } from '../../../src/simulator/cloud/tags.ts';
import { explained } from '../../support/explained.ts';
import { networkAccountPolicy } from '../../support/shipped-policy.ts';
import { ids, instance, testBlock, testCloud } from '../../support/test-cloud.ts';
import { networkRoleArn, World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const minute = 60_000;
const owner = '444455556666';
const role = { 'network-account-role-arn': `arn:aws:iam::${owner}:role/headwater-network` };
const byTags: EniOptions = { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 };
const nothing: IamPolicy = { Version: '2012-10-17', Statement: [] };

interface Started {
  readonly world: World;
  readonly controller: WorldController;
}

interface StartChange {
  readonly eni?: EniOptions;
  readonly isDenied?: boolean;
  readonly before?: (world: World) => void;
}

async function start(
  flags: Readonly<Record<string, string>>,
  { eni = byTags, isDenied = false, before }: StartChange = {},
): Promise<Started> {
  const vpcs = [{ name: 'main', id: ids.vpc, owner, blocks: [testBlock] }];
  const prompt = { consistency: { visibilityDelayMs: 0, listingLagMs: 0 } };
  const world = new World({
    cloud: testCloud({ vpcs, ...prompt, instances: [instance({ count: 2 })] }),
    configure: () => ({ eni }),
  });
  if (isDenied) deny(world, isDenied);
  before?.(world);
  const controller = startController(world, { flags });
  await world.announce(world.machine());
  await world.advance(minute);
  return { world, controller };
}

/** Whether the other account denies its role everything: it is denied by intent then, and no permission is missed. */
function deny({ cluster }: World, isDenied: boolean): void {
  const { gateway } = cluster.ec2;
  gateway.onChecked = undefined;
  gateway.policies.set(networkRoleArn, isDenied ? nothing : networkAccountPolicy);
}

/** The subnets of the interfaces that Headwater made. */
function subnetsOf({ world }: Started, index = 0): readonly string[] {
  const { instanceId } = world.machine(index);
  return [...world.cluster.ec2.network.interfaces.values()].flatMap((each) =>
    each.instanceId === instanceId && each.deviceIndex !== 0 ? [each.subnetId] : [],
  );
}

const describes = ({ controller }: Started): number =>
  controller.calls.filter(({ action }) => action === 'DescribeSubnets').length;

describe('a node that selects shared subnets by tags', () => {
  test('gets interfaces there if a role of their account shows the tags', async () => {
    const started = await start(role);

    expect(subnetsOf(started)).toEqual([ids.pods]);
    expect(started.world.pool(started.world.machine()).size).toBe(8);
    expect(started.controller.controller.status().denied).toEqual([]);
    expect(started.world.broken()).toEqual([]);
  });

  test('has them read within the limits of their account', async () => {
    const { controller } = await start(role);

    const { buckets } = controller.controller.status();
    const tokens = await controller.metric(
      `headwater_cloud_rate_limit_tokens{action="DescribeSubnets@${owner}"}`,
    );

    expect(buckets.map(({ action }) => action).filter((each) => each.startsWith('DescribeSubnets'))).toEqual([
      'DescribeSubnets',
      `DescribeSubnets@${owner}`,
    ]);
    expect(tokens).toBeGreaterThan(0);
  });

  test('gets its own subnet without the role, for one read of subnets less', async () => {
    const [without, beside] = [await start({}), await start(role)];

    expect(subnetsOf(without)).toEqual([ids.nodes]);
    expect(describes(beside)).toBe(2 * describes(without));
  });

  test('is served by an option that names the tags', async () => {
    const started = await start(
      { ...role, 'subnet-tags-filter': 'purpose=pods' },
      { eni: { firstInterfaceIndex: 1 } },
    );

    expect(subnetsOf(started)).toEqual([ids.pods]);
  });
});

describe('a role that the other account denies to read', () => {
  const remedy = `allow ec2:DescribeSubnets to ${role['network-account-role-arn']}`;

  test('keeps nodes waiting that select by tags, says so, and serves them once it may', async () => {
    const started = await start(role, { isDenied: true });
    const { world, controller } = started;
    const { inDeficit = [], denied } = controller.controller.status();

    expect(explained(controller.controller, world.machine().name).join('\n')).toMatch(
      new RegExp(`${ids.pods} .*its tags cannot be read: .*${role['network-account-role-arn']}`),
    );
    expect(inDeficit).toMatchObject([{ reason: 'NetworkUnreadable' }]);
    expect(world.operatorError(world.machine())).toContain(remedy);
    expect(denied).toMatchObject([{ permission: 'ec2:DescribeSubnets', remedy }]);
    expect(controller.warnings()).toContain('missing cloud permission');
    expect(subnetsOf(started)).toEqual([]);

    deny(world, false);
    await world.advance(2 * minute);

    expect(subnetsOf(started)).toEqual([ids.pods]);
    expect(world.operatorError(world.machine())).toBe('');
    expect(controller.controller.status().denied).toEqual([]);
  });

  test('costs other nodes nothing', async () => {
    const started = await start(role, { eni: { firstInterfaceIndex: 1 }, isDenied: true });

    expect(subnetsOf(started)).toEqual([ids.nodes]);
    expect(started.world.operatorError(started.world.machine())).toBe('');
  });

  test('takes nothing back that was known, and nodes go on by it', async () => {
    const started = await start({ ...role, 'resync-interval': '1m' });
    const { world, controller } = started;
    deny(world, true);
    await world.advance(3 * minute);
    expect(controller.controller.status().denied).toHaveLength(1);

    await world.announce(world.machine(1));
    await world.advance(minute);

    expect(subnetsOf(started, 1)).toEqual([ids.pods]);
    expect(subnetsOf(started)).toEqual([ids.pods]);
    expect(controller.removals).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

test('a tag that the owner sets is found by the next read', async () => {
  const started = await start(
    { ...role, 'resync-interval': '1m' },
    {
      eni: { subnetTags: { late: 'yes' }, firstInterfaceIndex: 1 },
    },
  );
  const { world } = started;
  expect(subnetsOf(started)).toEqual([ids.nodes]);

  addTags(world.cluster.ec2.network, [{ kind: 'subnets', id: ids.morePods }], { late: 'yes' });
  await world.advance(2 * minute);
  await world.announce(world.machine(1));
  await world.advance(minute);

  expect(subnetsOf(started, 1)).toEqual([ids.morePods]);
});

test('an account that does not answer delays the first interface by 5 s at most', async () => {
  const prompt = await start(role, { eni: { firstInterfaceIndex: 1 } });
  const slow = await start(
    { ...role, 'cloud-call-timeout': '30s' },
    { eni: { firstInterfaceIndex: 1 }, before: silence },
  );

  const createdAt = ({ controller }: Started): number =>
    controller.calls.find(({ action }) => action === 'CreateNetworkInterface')?.at ?? NaN;
  const delay = createdAt(slow) - createdAt(prompt);

  expect(delay).toBeGreaterThan(0);
  expect(delay).toBeLessThan(7000);
});

/** The other account never answers. */
function silence({ cluster }: World): void {
  const { gateway } = cluster.ec2;
  const answer = gateway.exchange.bind(gateway);
  gateway.exchange = (action, input, caller) =>
    caller.arn === networkRoleArn ? new Promise(() => undefined) : answer(action, input, caller);
}
