// Pods in another VPC of the account than the instances of their nodes.
import { describe, expect, test } from '@jest/globals';
import type { EniOptions, NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { textAt } from '../../../src/simulator/workload/json.ts';
import { checkedWorld } from '../../support/checked-world.ts';
import { explained } from '../../support/explained.ts';
import { fastReleaseFlags } from '../../support/fast-release-flags.ts';
import { belongingTo, found, leave } from '../../support/orphaned-interfaces.ts';
import { cloudWithPodVpc, podVpc as pods } from '../../support/pod-vpc.ts';
import { ids, testBlock } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, takeOver, type WorldController } from '../../support/world-controller.ts';

const minute = 60_000;

const option = { 'pod-vpc-id': pods.vpc };
const inGroup: EniOptions = { securityGroups: [pods.group] };

interface Started {
  readonly world: World;
  readonly controller: WorldController;
}

async function start(
  flags: Readonly<Record<string, string>> = option,
  eni: EniOptions = inGroup,
  machine: Partial<NodeFacts> = {},
): Promise<Started> {
  const world = new World({ cloud: cloudWithPodVpc(), configure: () => ({ eni, ...machine }) });
  const controller = startController(world, { flags });
  await world.announce(world.machine());
  await world.advance(minute);
  return { world, controller };
}

/** The subnets of the addresses that the CiliumNode offers. */
function offeredIn({ world }: Started, index = 0): readonly string[] {
  const subnetOf = new Map(world.interfaces(world.machine(index)).map(({ id, subnetId }) => [id, subnetId]));
  return [...new Set([...world.pool(world.machine(index)).values()].map((id) => subnetOf.get(id) ?? ''))];
}

describe('a node whose pods are in another VPC', () => {
  test('gets interfaces and addresses there, in its zone and in the groups that it names', async () => {
    const started = await start();
    const { world, controller } = started;
    const [primary, made] = world.interfaces(world.machine());

    expect(made).toMatchObject({ subnetId: pods.subnet, groupIds: [pods.group] });
    expect(primary?.addresses).toHaveLength(1);
    expect(world.pool(world.machine()).size).toBe(8);
    expect(offeredIn(started)).toEqual([pods.subnet]);
    expect(textAt(world.enis(world.machine()), made?.id ?? '', 'vpc', 'primary-cidr')).toBe(pods.block);
    expect(controller.warnings()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('chooses them by tags', async () => {
    const started = await start(option, { securityGroupTags: { purpose: 'pods' } });

    expect(offeredIn(started)).toEqual([pods.subnet]);
  });

  test('gets none and says why while it names no security groups, for those of its instance are of another VPC', async () => {
    const { world, controller } = await start(option, {});

    expect(world.pool(world.machine()).size).toBe(0);
    expect(world.operatorError(world.machine())).toContain(
      `its first interface shows none of ${pods.vpc}: set spec.eni.security-groups`,
    );
    expect(controller.changes).toEqual([]);
  });

  test('gets none and says why if no subnet is in its zone', async () => {
    const { world } = await start({ 'pod-vpc-id': 'vpc-00000000000000003' });

    expect(world.operatorError(world.machine())).toContain(
      'nothing matches a subnet of vpc-00000000000000003 in us-east-1a',
    );
  });

  test('may name that VPC itself, as agents do whose CNI configuration says so', async () => {
    const started = await start(option, inGroup, { vpcId: pods.vpc });

    expect(offeredIn(started)).toEqual([pods.subnet]);
  });

  test('is served beside an option that restricts the VPCs of instances', async () => {
    const [inside, outside] = [
      await start({ ...option, 'vpc-id': ids.vpc }, inGroup, { vpcId: pods.vpc }),
      await start({ ...option, 'vpc-id': pods.vpc }),
    ];

    expect(offeredIn(inside)).toEqual([pods.subnet]);
    expect(explained(outside.controller.controller, outside.world.machine().name).join('\n')).toContain(
      `the node is in ${ids.vpc}`,
    );
  });

  test('is not, without the option, where its agent names another VPC', async () => {
    const { world, controller } = await start({}, inGroup, { vpcId: pods.vpc });

    expect(explained(controller.controller, world.machine().name).join('\n')).toContain('NetworkMismatch');
    expect(controller.changes).toEqual([]);
  });

  test('grows and shrinks with its pods', async () => {
    const world = new World({
      cloud: cloudWithPodVpc(),
      configure: () => ({ eni: inGroup, ipam: { preAllocate: 3 } }),
    });
    const controller = startController(world, { flags: { ...option, ...fastReleaseFlags } });
    await world.startAgents();
    await world.advance(minute);
    for (let index = 0; index < 20; index++)
      void world.cluster.workload.createPod({ name: `pod-${index}`, placement: 'spread' });
    await world.advance(2 * minute);
    const grown = world.interfaces(world.machine()).length;
    for (let index = 0; index < 20; index++) void world.cluster.workload.deletePod(`default/pod-${index}`);
    await world.advance(20 * minute);

    expect(grown).toBe(3);
    expect(world.interfaces(world.machine()).map(({ subnetId }) => subnetId)).toEqual([
      ids.nodes,
      pods.subnet,
    ]);
    expect(controller.removals.map(({ action }) => action)).toContain('DeleteNetworkInterface');
    expect(world.broken()).toEqual([]);
  });
});

describe('a node that moves its pods to another VPC', () => {
  test('keeps the addresses that pods use, and gets new ones only there', async () => {
    const { world, controller } = await start({}, { firstInterfaceIndex: 1 });
    const machine = world.machine();
    await world.use(machine, 3);
    const used = [...world.pool(machine).keys()].slice(0, 3);
    controller.kill();
    await world.patch(machine, { spec: { eni: { 'security-groups': [pods.group] } } });
    const next = startController(world, { identity: 'headwater-1', flags: option });
    await world.advance(5 * minute);

    expect(world.interfaces(machine).at(-1)).toMatchObject({ subnetId: pods.subnet });
    expect([...world.pool(machine).keys()]).toEqual(expect.arrayContaining(used));
    expect(explained(next.controller, machine.name).join('\n')).toContain(
      `it is in ${ids.vpc}, and pods get addresses of ${pods.vpc}`,
    );
    expect(next.removals).toEqual([]);
    expect(world.broken()).toEqual([]);
    await world.advance(20 * minute);
    expect(next.controller.status().warnings?.map(({ reason }) => reason)).toEqual([
      'ExcludedAddressesInUse',
    ]);
  });
});

describe('a node that moves its pods back to the VPC of its instance', () => {
  test('keeps the addresses that pods use, and gets new ones only there', async () => {
    const started = await start();
    const { world, controller } = started;
    const machine = world.machine();
    await world.use(machine, 3);
    const used = [...world.pool(machine).keys()].slice(0, 3);
    controller.kill();
    await world.patch(machine, { spec: { eni: { 'security-groups': [] } } });
    const next = startController(world, { identity: 'headwater-1', flags: { 'pod-vpc-id': ids.vpc } });
    await world.advance(20 * minute);

    expect([...world.pool(machine).keys()]).toEqual(expect.arrayContaining(used));
    expect(world.pool(machine).size).toBe(16);
    expect(offeredIn(started)).toEqual(expect.arrayContaining([ids.nodes, pods.subnet]));
    expect(next.removals).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('another leader', () => {
  test('lists both VPCs, and changes nothing', async () => {
    const { world, controller } = await start();
    const before = [...world.pool(world.machine())];
    const next = takeOver(world, controller, { flags: option });
    await world.advance(20 * minute);

    const listed = next.calls
      .filter(({ action }) => action === 'DescribeNetworkInterfaces')
      .map(({ input }) => JSON.stringify(input))
      .filter((input) => input.includes('vpc-id'));
    expect(listed).not.toEqual([]);
    expect(listed.every((input) => input.includes(ids.vpc) && input.includes(pods.vpc))).toBe(true);
    expect(next.changes).toEqual([]);
    expect([...world.pool(world.machine())]).toEqual(before);
    expect(world.broken()).toEqual([]);
  });

  test('that hears nothing of one VPC takes nothing away', async () => {
    const { world, controller } = await start();
    const before = [...world.pool(world.machine())];
    const next = takeOver(world, controller, {
      flags: { ...option, ...fastReleaseFlags },
      tamper: (_, output, input) =>
        JSON.stringify(input).includes('"vpc-id"')
          ? withoutInterfaces(output, ({ VpcId }) => VpcId === pods.vpc)
          : output,
    });
    await world.advance(20 * minute);

    expect([...world.pool(world.machine()).keys()]).toEqual(
      expect.arrayContaining(before.map(([address]) => address)),
    );
    expect(next.removals).toEqual([]);
  });

  test('that is not shown the primary interface takes the VPC of the others for no proof', async () => {
    const { world, controller } = await start();
    const before = [...world.pool(world.machine())];
    const next = takeOver(world, controller, {
      flags: option,
      tamper: (_, output) => withoutInterfaces(output, ({ Attachment }) => Attachment?.DeviceIndex === 0),
    });
    await world.advance(20 * minute);

    expect(explained(next.controller, world.machine().name).join('\n')).not.toContain('NetworkMismatch');
    expect([...world.pool(world.machine())]).toEqual(before);
    expect(next.removals).toEqual([]);
  });
});

interface ShownInterface {
  readonly VpcId?: string;
  readonly Attachment?: { readonly DeviceIndex?: number };
}

function withoutInterfaces(output: object, isHidden: (item: ShownInterface) => boolean): object {
  const { NetworkInterfaces: all } = output as { readonly NetworkInterfaces?: readonly ShownInterface[] };
  return all === undefined ? output : { ...output, NetworkInterfaces: all.filter((item) => !isHidden(item)) };
}

test('an instance has no places for pods on its primary interface then', async () => {
  const [there, back] = [await start(), await start({ 'pod-vpc-id': ids.vpc }, {})];
  const shown = [there, back].map(({ world, controller }) =>
    explained(controller.controller, world.machine().name).join('\n'),
  );

  expect(shown).toEqual([
    expect.stringContaining('18 addresses for pods'),
    expect.stringContaining('27 addresses for pods'),
  ]);
});

describe('an interface that was left behind in that VPC', () => {
  test.each([pods.vpc, ids.vpc])(
    'is deleted while pods go to %s and instances of one VPC are served',
    async (vpc) => {
      const named = { 'cluster-name': 'blue' };
      const { world, controller } = await start({ ...option, ...named });
      controller.kill();
      startController(world, {
        identity: 'headwater-1',
        flags: { ...named, 'pod-vpc-id': vpc, 'vpc-id': ids.vpc, 'eni-gc-interval': '1m' },
      });
      const left = leave(world, { subnetId: pods.subnet, groupId: pods.group, tags: belongingTo('blue') });
      await world.advance(10 * minute);

      expect(found(world, left)).toBeUndefined();
    },
  );
});

interface CheckedCluster {
  readonly eni?: EniOptions;
  /** One more block of the VPC of the pods. */
  readonly block?: string;
  /** The VPC that the agent names. */
  readonly vpcId?: string;
}

describe('the command check', () => {
  async function rowsWith(
    flags: Readonly<Record<string, string>>,
    { eni = inGroup, block = pods.block, vpcId = ids.vpc }: CheckedCluster = {},
  ): Promise<readonly string[]> {
    const vpcs = [
      { name: 'main', id: ids.vpc, blocks: [testBlock] },
      { name: 'pods', id: pods.vpc, blocks: [pods.block, ...(block === pods.block ? [] : [block])] },
    ];
    const world = new World({ cloud: cloudWithPodVpc({ vpcs }), configure: () => ({ eni, vpcId }) });
    await world.announce(world.machine());
    const { findings } = await checkedWorld(world, flags);
    const rows = new Set(['pod network', 'subnets', 'selection', 'nodes']);
    return findings.flatMap(({ what, verdict, found }) =>
      rows.has(what) ? [`${verdict} ${what}: ${found}`] : [],
    );
  }

  test('says where the next interface of a node comes from', async () => {
    expect(await rowsWith(option)).toEqual([
      `ok pod network: pods get addresses of ${pods.vpc} (${pods.block})`,
      expect.stringMatching(`^ok subnets: 1 node .* get interfaces in ${pods.subnet} `),
    ]);
  });

  test.each<[string, Parameters<typeof rowsWith>, string]>([
    [
      'no such VPC',
      [{ 'pod-vpc-id': 'vpc-00000000000000003' }],
      'problem pod network: vpc-00000000000000003 is not shown in this account and region',
    ],
    [
      'a block that both VPCs have',
      [option, { block: '10.0.128.0/17' }],
      `problem pod network: 10.0.128.0/17 of ${pods.vpc} and ${testBlock} of ${ids.vpc} have addresses in common`,
    ],
    [
      'such a block where the agent names the VPC of its pods',
      [option, { block: '10.0.128.0/17', vpcId: pods.vpc }],
      `problem pod network: 10.0.128.0/17 of ${pods.vpc} and ${testBlock} of ${ids.vpc} have addresses in common`,
    ],
    ['no security groups', [option, { eni: {} }], `shows none of ${pods.vpc}: set spec.eni.security-groups`],
    [
      'a security group of the VPC of the instance',
      [option, { eni: { securityGroups: [ids.nodeGroup] } }],
      `problem selection: of 1 node (ip-10-0-0-99), ${ids.nodeGroup} is not in ${pods.vpc}`,
    ],
  ])('finds %s', async (_, asked, row) => {
    expect((await rowsWith(...asked)).join('\n')).toContain(row);
  });
});

test('the command check takes the address of a Node for proof, though interfaces of pods are in another VPC', async () => {
  const { world } = await start(option, inGroup, { withoutProviderId: true });
  const { findings } = await checkedWorld(world, option);

  expect(findings.map(({ found: text }) => text).filter((text) => text.includes('provider ID'))).toEqual([]);
});

test('two nodes of different VPCs never share an address of the VPC of their pods', async () => {
  const { world } = await start();
  const [mine, other] = [world.machine(), world.machine(1)];
  const [address = '', resource = ''] = [...world.pool(mine)][0] ?? [];
  await world.announce(other, {
    spec: { eni: { 'vpc-id': pods.vpc }, ipam: { pool: { [address]: { resource } } } },
  });
  await world.advance(5 * minute);

  expect(world.pool(mine).has(address)).toBe(true);
  expect(world.pool(other).has(address)).toBe(false);
});
