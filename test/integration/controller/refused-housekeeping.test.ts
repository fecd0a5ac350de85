// Calls that keep no pod from its address are refused to a whole fleet at once: the cost must be less than a call a node.
import { describe, expect, test } from '@jest/globals';
import type { IamPolicy } from '../../../src/simulator/ec2/iam-policy.ts';
import { controllerArn } from '../../support/in-process-ec2.ts';
import { shippedPolicy } from '../../support/shipped-policy.ts';
import { instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const nodes = 90;
const minute = 60_000;
const hour = 3_600_000;

/** The shipped policy without one action. */
function without(action: string): IamPolicy {
  const statements = shippedPolicy.Statement.map((statement) => ({
    ...statement,
    Action: statement.Action.filter((each) => each !== `ec2:${action}`),
  }));
  return { ...shippedPolicy, Statement: statements };
}

describe('a fleet whose role lacks a permission for housekeeping', () => {
  test.each([
    {
      action: 'ModifyNetworkInterfaceAttribute',
      // Each node has an interface that Headwater created.
      ipam: { minAllocate: 12 },
      addresses: 0,
      flags: {},
      within: 10 * minute,
    },
    {
      action: 'UnassignPrivateIpAddresses',
      ipam: { preAllocate: 2 },
      addresses: 9,
      flags: { 'aws-release-excess-ips': 'true' },
      // The agents are asked again, too, once one node is granted a release.
      within: 15 * minute,
    },
  ])('tries $action once for each interface, and then once a backoff for all', async (row) => {
    const { action, ipam, addresses, flags, within } = row;
    const world = new World({
      cloud: testCloud({
        // Room for all of them.
        subnets: [{ ...subnets.nodes, block: '10.0.128.0/19' }, subnets.pods, subnets.morePods],
        instances: [instance({ count: nodes, addresses })],
      }),
      configure: () => ({ ipam }),
      policy: without(action),
    });
    const controller = startController(world, { flags: { 'cluster-name': 'blue', ...flags } });
    await world.startAgents();
    const asked = (): number => controller.calls.filter((call) => call.action === action).length;

    await world.advance(hour);
    const first = asked();
    await world.advance(hour);
    const later = asked() - first;
    const warned = [...controller.warnings()];
    world.cluster.ec2.gateway.policies.set(controllerArn, shippedPolicy);
    await world.advance(within + minute);
    const done = controller.calls.filter((call) => call.action === action && call.result === 'OK').length;

    expect(first).toBeGreaterThanOrEqual(nodes);
    expect(first).toBeLessThanOrEqual(nodes + 70);
    // At most one a minute, however many nodes there are.
    expect(later).toBeGreaterThan(0);
    expect(later).toBeLessThanOrEqual(70);
    expect(done).toBe(nodes);
    expect(warned).toEqual(['missing cloud permission']);
    expect(controller.controller.status().denied).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});
