import { describe, expect, test } from '@jest/globals';
import { ec2Limits } from '../../../src/providers/aws/quotas.ts';
import { instanceTag, operationTag } from '../../../src/providers/orphans/ownership-tags.ts';
import { attach } from '../../../src/simulator/cloud/attachments.ts';
import type { IamPolicy } from '../../../src/simulator/ec2/iam-policy.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { controllerArn } from '../../support/in-process-ec2.ts';
import { belongingTo, leave } from '../../support/orphaned-interfaces.ts';
import { ofCheck, shippedPolicy } from '../../support/shipped-policy.ts';
import { ids, instance, subnets, testBlock, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const minute = 60_000;

/** One grant of the policy: an action on the resources of one statement. */
interface Grant {
  readonly sid: string;
  readonly permission: string;
  readonly resource: string;
}

const grants: readonly Grant[] = shippedPolicy.Statement.flatMap(({ Sid: sid = '', Action, Resource }) =>
  Action.flatMap((permission) => Resource.map((resource) => ({ sid, permission, resource }))),
);

/** The shipped policy without one grant. */
function without({ sid, permission, resource }: Grant): IamPolicy {
  const statements = shippedPolicy.Statement.flatMap((statement) => {
    if (statement.Sid !== sid || !statement.Action.includes(permission)) return [statement];
    const others = statement.Action.filter((each) => each !== permission);
    const elsewhere = statement.Resource.filter((each) => each !== resource);
    return [
      { ...statement, Action: others },
      { ...statement, Action: [permission], Resource: elsewhere },
    ];
  });
  return { ...shippedPolicy, Statement: statements };
}

/** Each case has two nodes: one needs 20 addresses, of which 9 fit on its interface, and the other needs 4. */
interface Case {
  readonly flags?: Readonly<Record<string, string>>;
  /** Changes of the first node. */
  readonly configure?: Partial<NodeFacts>;
  readonly cloud?: Readonly<Record<string, unknown>>;
  /** Secondary addresses that the second node has at the start. */
  readonly had?: number;
  /** Tags of an empty interface of the first node; undefined without such an interface. */
  readonly idle?: Readonly<Record<string, string>>;
  readonly staticAddress?: boolean;
  readonly asksForIpv6?: boolean;
  /** Where a person finds the reason. */
  readonly shownBy: 'the error of the node' | 'a warning of the node' | 'readiness' | 'the log';
  /** Addresses of the nodes while the action is denied, and afterwards. */
  readonly meanwhile: readonly [number, number];
  readonly afterwards?: readonly [number, number];
}

const all = [20, 4] as const;
const unread: Case = { shownBy: 'readiness', meanwhile: [0, 0] };
/** The existing interface is still filled. */
const noInterface: Case = { shownBy: 'the error of the node', meanwhile: [9, 4] };
const housekeeping: Case = { shownBy: 'the log', meanwhile: all };
const staticAddress: Case = { staticAddress: true, shownBy: 'a warning of the node', meanwhile: all };
const releasing = { 'aws-release-excess-ips': 'true', 'idle-interface-delay': '1m' };
const small = { ipam: { minAllocate: 5, preAllocate: 1 } };
/** Only Headwater's own tags identify its interfaces, not cilium-operator's. */
const ownTags = { 'eni-gc-tags': 'team=net' };

const idleOf: Readonly<Record<string, Pick<Case, 'idle' | 'flags'>>> = {
  OurInterfaces: {
    idle: { team: 'net', [operationTag]: 'earlier' },
    flags: { ...releasing, ...ownTags },
  },
  InterfacesThatCiliumOperatorMade: { idle: belongingTo('blue'), flags: releasing },
  InterfacesOfInstances: { idle: belongingTo('blue'), flags: releasing },
};

/** By permission, a cluster that needs it. */
const cases: Readonly<Record<string, (grant: Grant) => Case>> = {
  'ec2:DescribeNetworkInterfaces': () => unread,
  'ec2:DescribeSubnets': () => unread,
  'ec2:DescribeVpcs': () => unread,
  'ec2:DescribeInstances': () => ({ ...unread, flags: { 'instance-tags-filter': 'role=worker' } }),
  'ec2:DescribeInstanceTypes': () => ({ shownBy: 'the error of the node', meanwhile: [0, 0] }),
  'ec2:DescribeRouteTables': () => ({
    ...noInterface,
    // The subnet of the nodes has five addresses left.
    cloud: { subnets: [{ ...subnets.nodes, block: '10.0.0.0/28' }, subnets.pods, subnets.morePods] },
    had: 4,
    meanwhile: [5, 4],
  }),
  'ec2:DescribeSecurityGroups': () => ({
    ...noInterface,
    configure: { eni: { securityGroupTags: { purpose: 'pods' } } },
  }),
  'ec2:DescribeAddresses': () => staticAddress,
  'ec2:AssociateAddress': () => staticAddress,
  'ec2:CreateNetworkInterface': () => noInterface,
  'ec2:CreateTags': () => noInterface,
  'ec2:AttachNetworkInterface': () => noInterface,
  // New interfaces are created with addresses.
  'ec2:AssignPrivateIpAddresses': () => ({ shownBy: 'the error of the node', meanwhile: [11, 4] }),
  // IPv4 does not wait for it.
  'ec2:AssignIpv6Addresses': () => ({
    shownBy: 'the error of the node',
    meanwhile: all,
    asksForIpv6: true,
    cloud: {
      vpcs: [{ name: 'main', id: ids.vpc, blocks: [testBlock], ipv6Block: '2600:1f14:100::/56' }],
      subnets: [{ ...subnets.nodes, ipv6Block: '2600:1f14:100::/64' }, subnets.pods, subnets.morePods],
    },
  }),
  'ec2:UnassignPrivateIpAddresses': () => ({ ...housekeeping, flags: releasing, had: 9, meanwhile: [20, 9] }),
  'ec2:ModifyNetworkInterfaceAttribute': ({ sid }) =>
    sid === 'InterfacesThatCiliumOperatorMade'
      ? { ...housekeeping, ...idleOf[sid] }
      : { ...housekeeping, flags: sid === 'OurInterfaces' ? ownTags : {} },
  'ec2:DetachNetworkInterface': ({ sid }) => ({
    ...housekeeping,
    ...idleOf[sid],
    configure: small,
    meanwhile: [5, 4],
    afterwards: [5, 4],
  }),
  'ec2:DeleteNetworkInterface': ({ sid }) => ({
    ...housekeeping,
    ...idleOf[sid],
    configure: small,
    meanwhile: [5, 4],
    afterwards: [5, 4],
  }),
};

async function play(each: Case, policy: IamPolicy): Promise<{ world: World; controller: WorldController }> {
  const {
    flags,
    configure,
    cloud,
    had = 0,
    idle,
    staticAddress: isStatic = false,
    asksForIpv6 = false,
  } = each;
  const tags = { role: 'worker' };
  const world = new World({
    cloud: testCloud({
      consistency: { visibilityDelayMs: 0, listingLagMs: 0 },
      instances: [instance({ tags }), instance({ name: 'other', tags, addresses: had })],
      publicAddresses: [{ count: 1, tags: { pool: 'egress' } }],
      ...cloud,
    }),
    configure: (index) =>
      index === 0
        ? { ipam: { minAllocate: 20, preAllocate: 2 }, ...configure }
        : { ipam: { preAllocate: 2 } },
    policy,
  });
  const machine = world.machine();
  if (idle !== undefined) {
    const { instanceId } = machine;
    const description = `Cilium-CNI (${instanceId})`;
    const tags = operationTag in idle ? { ...idle, [instanceTag]: instanceId } : idle;
    const interfaceId = leave(world, { tags, description, addresses: 0 });
    attach(world.cluster.ec2.network, { interfaceId, instanceId, deviceIndex: 1, cardIndex: 0 });
  }
  const controller = startController(world, { flags: { 'cluster-name': 'blue', ...flags } });
  await world.startAgents();
  await world.advance(1000);
  if (isStatic) await world.patch(machine, { spec: { ipam: { 'static-ip-tags': { pool: 'egress' } } } });
  if (asksForIpv6) {
    const requested = [{ pool: 'default', needed: { 'ipv4-addrs': 2, 'ipv6-addrs': 2 } }];
    await world.patch(machine, { spec: { ipam: { pools: { requested } } } });
  }
  return { world, controller };
}

function shown(
  { shownBy }: Case,
  { world, controller }: { readonly world: World; readonly controller: WorldController },
): string {
  const { warnings = [] } = controller.controller.status();
  const texts = {
    'the error of the node': () => world.operatorError(world.machine()),
    'a warning of the node': () => warnings.map(({ why }) => why).join('; '),
    readiness: () => controller.controller.unreadiness() ?? '',
    'the log': () => controller.warnings().join('; '),
  } as const satisfies Record<Case['shownBy'], () => string>;
  return texts[shownBy]();
}

const warning = 'missing cloud permission';

function poolSizes(world: World): readonly number[] {
  return world.machines.map((machine) => world.pool(machine).size);
}

describe('the shipped IAM policy', () => {
  test('allows the actions that Headwater calls, and the tags of what it creates, and nothing else', () => {
    const called = [...ec2Limits.keys(), 'CreateTags'].map((action) => `ec2:${action}`);

    expect([...new Set(grants.map(({ permission }) => permission))].sort()).toEqual(called.sort());
  });

  test.each(grants.filter(({ permission }) => permission !== ofCheck))(
    'allows $permission on $resource ($sid) because Headwater needs it and names it when it is denied',
    async (grant) => {
      const each = cases[grant.permission]?.(grant);
      if (each === undefined) throw new Error(`no case needs ${grant.permission}`);
      const remedy = `allow ${grant.permission} to Headwater's role`;
      const played = await play(each, without(grant));
      const { world, controller } = played;

      await world.advance(20 * minute);
      const during = {
        denied: controller.controller.status().denied,
        shown: shown(each, played),
        pools: poolSizes(world),
        lines: controller.logged.filter(({ level }) => level !== 'debug'),
      };
      world.cluster.ec2.gateway.policies.set(controllerArn, shippedPolicy);
      await world.advance(40 * minute);

      expect(during.denied).toEqual([expect.objectContaining({ permission: grant.permission, remedy })]);
      expect(during.shown).toContain(each.shownBy === 'the log' ? warning : remedy);
      expect(during.pools).toEqual(each.meanwhile);
      const warned = controller.logged.filter(({ message }) => message === warning);
      expect(warned.map(({ details }) => [details['permission'], details['remedy']])).toEqual([
        [grant.permission, remedy],
      ]);
      expect(during.lines.length).toBeLessThan(40);
      expect(controller.controller.status().denied).toEqual([]);
      expect(poolSizes(world)).toEqual(each.afterwards ?? all);
      expect(world.orphaned()).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );

  test('also works when it is restricted to one VPC', async () => {
    const sids = [
      'CreateInterfacesInSubnets',
      'CreateInterfacesWithSecurityGroups',
      'AddressesOfAnyInterface',
    ];
    const heldTo = (vpcId: string): IamPolicy => ({
      ...shippedPolicy,
      Statement: shippedPolicy.Statement.map((statement) =>
        sids.includes(statement.Sid ?? '')
          ? { ...statement, Condition: { ArnLike: { 'ec2:Vpc': [`arn:aws:ec2:*:*:vpc/${vpcId}`] } } }
          : statement,
      ),
    });
    const served = await play(housekeeping, heldTo(ids.vpc));
    const refused = await play(housekeeping, heldTo('vpc-00000000000000009'));

    for (const { world } of [served, refused]) await world.advance(5 * minute);

    expect(poolSizes(served.world)).toEqual(all);
    expect(served.controller.controller.status().denied).toEqual([]);
    expect(poolSizes(refused.world)).toEqual([0, 0]);
  });
});
