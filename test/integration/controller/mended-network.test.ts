import { describe, expect, test } from '@jest/globals';
import type { EniOptions } from '../../../src/simulator/workload/node-facts.ts';
import { createSubnet } from '../../../src/simulator/cloud/subnets.ts';
import { addTags } from '../../../src/simulator/cloud/tags.ts';
import { ids, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const tags = { wanted: 'yes' };
const prompt = { consistency: { visibilityDelayMs: 0, listingLagMs: 0 } };

describe('a network that a person fixes', () => {
  test.each<[string, EniOptions, string, (world: World) => void]>([
    [
      'by tagging a subnet',
      { firstInterfaceIndex: 1 },
      'NoSubnetMatches',
      ({ cluster }) => addTags(cluster.ec2.network, [{ kind: 'subnets', id: ids.morePods }], tags),
    ],
    [
      'by adding a subnet',
      { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 },
      'SubnetsExhausted',
      ({ cluster }) =>
        createSubnet(cluster.ec2.network, {
          vpcId: ids.vpc,
          zone: 'us-east-1a',
          block: '10.0.64.0/20',
          tags: { purpose: 'pods' },
        }),
    ],
    [
      'by tagging a security group',
      { securityGroupTags: tags, firstInterfaceIndex: 1 },
      'NoSecurityGroupMatches',
      ({ cluster }) => addTags(cluster.ec2.network, [{ kind: 'groups', id: ids.podGroup }], tags),
    ],
  ])('%s serves the nodes that waited for it within about a minute', async (_, eni, reason, mend) => {
    const world = new World({ cloud: testCloud(prompt), configure: () => ({ eni }) });
    const machine = world.machine();
    if (reason === 'SubnetsExhausted') for (const id of [ids.pods, ids.morePods]) world.occupy(id);
    const flags = { ...(reason === 'NoSubnetMatches' && { 'subnet-tags-filter': 'wanted=yes' }) };
    const controller = startController(world, { flags });
    await world.announce(machine);
    await world.advance(90_000);
    const before = controller.controller.status().inDeficit?.map((node) => node.reason);

    mend(world);
    await world.advance(70_000);

    expect(before).toEqual([reason]);
    expect(world.pool(machine).size).toBe(8);
    expect(world.operatorError(machine)).toBe('');
    expect(world.broken()).toEqual([]);
  });

  test('costs a few calls a minute while nodes wait for it, and none afterwards', async () => {
    const eni = { securityGroupTags: tags, firstInterfaceIndex: 1 };
    const world = new World({ cloud: testCloud(prompt), configure: () => ({ eni }) });
    const controller = startController(world, { flags: { 'resync-interval': '24h' } });
    await world.announce(world.machine());
    await world.advance(60_000);
    const before = controller.calls.length;

    await world.advance(600_000);

    expect(controller.calls.length - before).toBeLessThanOrEqual(44);
    expect(controller.changes).toEqual([]);
  });
});
