import { describe, expect, test } from '@jest/globals';
import { terminate } from '../../../src/simulator/cloud/instances.ts';
import { isObject, type Json, type JsonObject } from '../../../src/simulator/workload/json.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { poolsOf, replaceLeader } from '../../support/replaced-leader.ts';
import { type ControllerSetup, startController } from '../../support/world-controller.ts';

const minute = 60_000;

type Tamper = NonNullable<ControllerSetup['tamper']>;

interface BadInput {
  /** Sections of the topology. */
  readonly cloud?: JsonObject;
  /** Interfaces of the bad instance besides the primary one; two by default. */
  readonly interfaces?: readonly JsonObject[];
  readonly tamper?: (world: AlibabaWorld) => Tamper;
  /** Merged into the CiliumNode. */
  readonly patch?: JsonObject;
  /** Events on the node, as reason and text. */
  readonly said: readonly string[];
  readonly isServed: boolean;
}

const held = { vSwitch: 'pods', addresses: 3 };

function worldFor({ cloud = {}, interfaces }: Pick<BadInput, 'cloud' | 'interfaces'>): AlibabaWorld {
  const two = ['1', '2'].map((index) => ({ ...held, tags: { 'cilium-eni-index': index } }));
  const good = ecsInstance({ name: 'good', interfaces: [{ vSwitch: 'pods', addresses: 9 }] });
  return new AlibabaWorld({
    cloud: testAlibaba({
      instances: [ecsInstance({ name: 'bad', interfaces: interfaces ?? two }), good],
      vpcs: [
        { name: 'main', blocks: ['10.0.0.0/16'], id: 'vpc-main' },
        { name: 'other', blocks: ['10.1.0.0/16'], id: 'vpc-other' },
      ],
      vSwitches: [
        { name: 'nodes', vpc: 'main', zone: 'cn-hangzhou-a', block: '10.0.0.0/24', id: 'vsw-nodes' },
        { name: 'pods', vpc: 'main', zone: 'cn-hangzhou-a', block: '10.0.16.0/20', id: 'vsw-pods' },
        { name: 'theirs', vpc: 'other', zone: 'cn-hangzhou-a', block: '10.1.16.0/20', id: 'vsw-theirs' },
      ],
      securityGroups: [{ name: 'nodes', vpc: 'main' }],
      ...cloud,
    }),
  });
}

/** Changes how one interface of the bad instance looks, wherever an answer shows it. */
function shown(edit: (eni: JsonObject) => JsonObject, place = 1): (world: AlibabaWorld) => Tamper {
  return (world) => {
    const id = idOf(world, place);
    const see = (value: Json | undefined): Json | undefined => {
      if (Array.isArray(value)) return value.map((each: Json) => see(each) ?? null);
      if (!isObject(value)) return value;
      if (value['networkInterfaceId'] === id && 'macAddress' in value) return edit(value);
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, see(each)]));
    };
    return (_, output) => see(JSON.parse(JSON.stringify(output)) as JsonObject) as object;
  };
}

/** By its place on the bad instance. */
function idOf(world: AlibabaWorld, place: number): string {
  const { instanceId } = world.machine(0);
  return world.interfaces({ instanceId }).find(({ deviceIndex }) => deviceIndex === place + 1)?.id ?? '';
}

const unreadable = (problem: string, id = 'SECOND'): string =>
  `InterfaceUnreadable: interface ${id} cannot be read and is not used: ${problem}`;

const missingGroup =
  'CallFailed: CreateNetworkInterface answers InvalidSecurityGroupId.NotFound: The specified security group sg-missing does not exist. (correct spec.alibaba-cloud.security-groups of the node)';

/** The texts with names instead of what is drawn. */
function named(
  world: AlibabaWorld,
  ids: Readonly<Record<string, string>>,
  texts: readonly string[],
): readonly string[] {
  const known = Object.entries({ ...ids, FIRST: idOf(world, 0) || ids['FIRST'] || '' }).filter(
    ([, id]) => id !== '',
  );
  return texts.map((text) => known.reduce((said, [word, id]) => said.replaceAll(id, word), text));
}

const rows: Readonly<Record<string, BadInput>> = {
  'an interface without a MAC address': {
    tamper: shown((eni) => ({ ...eni, macAddress: '' })),
    said: [unreadable('macAddress is missing')],
    isServed: true,
  },
  'an interface without a vSwitch': {
    tamper: shown((eni) => ({ ...eni, vSwitchId: '' })),
    said: [unreadable('vSwitchId is missing')],
    isServed: true,
  },
  'an interface without an address': {
    tamper: shown((eni) => ({ ...eni, privateIpAddress: '', privateIpSets: { privateIpSet: [] } })),
    said: [unreadable('it has no primary address')],
    isServed: true,
  },
  'a malformed address': {
    tamper: shown((eni) => ({ ...eni, privateIpAddress: '10.0.016.4' })),
    said: [unreadable('"10.0.016.4" is not an IPv4 address')],
    isServed: true,
  },
  'an interface whose id does not parse': {
    tamper: shown((eni) => ({ ...eni, networkInterfaceId: 'no id' })),
    said: [unreadable('networkInterfaceId is "no id"', 'no id')],
    isServed: true,
  },
  'an interface in a state that nobody knows': {
    tamper: shown((eni) => ({ ...eni, status: 'Frozen' })),
    said: [unreadable('its state "Frozen" is unknown')],
    isServed: true,
  },
  'no interface that can be read': {
    interfaces: [],
    tamper: shown((eni) => ({ ...eni, macAddress: '' }), -1),
    said: [
      unreadable('macAddress is missing', 'PRIMARY'),
      'InterfaceUnreadable: no interface of instance INSTANCE can be read; of PRIMARY: macAddress is missing',
    ],
    isServed: false,
  },
  'an interface whose attachment never ends': {
    interfaces: [],
    cloud: { times: { attachMs: 100_000_000 } },
    said: [
      'InterfaceNotShown: check in the cloud whether interface FIRST is attached to instance INSTANCE, and detach it if it is stuck: the cloud accepted the attachment, but no read shows it, and its addresses are offered once one does',
    ],
    isServed: false,
  },
  'an instance that is deleted between the list and the creation': {
    interfaces: [],
    tamper: (world) => {
      let isDeleted = false;
      return (action, output) => {
        if (action === 'CreateNetworkInterface' && !isDeleted) {
          isDeleted = true;
          terminate(world.cluster.network, [world.machine(0).instanceId]);
        }
        return output;
      };
    },
    said: [
      "InstanceNotFound: instance INSTANCE is not found: check Headwater's region, account and role, and spec.instance-id; delete the CiliumNode only if the Kubernetes Node is gone too",
    ],
    isServed: false,
  },
  'a vSwitch of another VPC': {
    interfaces: [],
    patch: { spec: { 'alibaba-cloud': { vswitches: ['vsw-theirs'] } } },
    said: [
      "NoSubnetMatches: nothing matches a subnet of vpc-main in cn-hangzhou-a with one of the ids vsw-theirs: create or tag a subnet, or correct the node's subnet selection and Headwater's subnet filters",
    ],
    isServed: false,
  },
  'a security group that is missing': {
    interfaces: [],
    patch: { spec: { 'alibaba-cloud': { 'security-groups': ['sg-missing'] } } },
    said: [
      missingGroup,
      `CallFailed: with security groups sg-missing ${missingGroup.slice('CallFailed: '.length)}`,
    ],
    isServed: false,
  },
  'another VPC in its spec': {
    interfaces: [],
    patch: { spec: { 'alibaba-cloud': { 'vpc-id': 'vpc-other' } } },
    said: [
      'NetworkMismatch: spec.alibaba-cloud.vpc-id is vpc-other and the cloud shows the instance in vpc-main: correct spec.alibaba-cloud.vpc-id',
    ],
    isServed: false,
  },
  'an instance type that nothing knows': {
    interfaces: [],
    patch: { spec: { 'alibaba-cloud': { 'instance-type': 'ecs.none.large' } } },
    said: [
      'InstanceTypeUnknown: the cloud knows no instance type "ecs.none.large": correct spec.alibaba-cloud.instance-type',
    ],
    isServed: false,
  },
  'an instance id that does not parse': {
    interfaces: [],
    patch: { spec: { 'instance-id': 'nonsense' } },
    said: [
      'InstanceMismatch: spec.instance-id is nonsense and the provider ID of Node NODE names INSTANCE: correct spec.instance-id, or delete the Node if it is of a former instance',
    ],
    isServed: false,
  },
  'doubled index tags and one that no agent accepts': {
    interfaces: ['77', '2', '2'].map((index) => ({ ...held, tags: { 'cilium-eni-index': index } })),
    said: [],
    isServed: true,
  },
};

describe('on Alibaba Cloud, a node with', () => {
  test.each(Object.entries(rows))(
    '%s is served without it, if it can be, says why, and leaves others alone',
    async (_, row) => {
      const world = worldFor(row);
      const [machine, other] = [world.machine(0), world.machine(1)];
      const [PRIMARY, FIRST, SECOND] = [idOf(world, -1), idOf(world, 0), idOf(world, 1)];
      const ids = { PRIMARY, FIRST, SECOND, INSTANCE: machine.instanceId, NODE: machine.name };
      const controller = startController(
        world,
        row.tamper === undefined ? {} : { tamper: row.tamper(world) },
      );
      await world.advance(5 * minute);

      await world.announce(machine, row.patch);
      await world.announce(other);
      await world.advance(15 * minute);

      const events = world.events(machine.name).filter((event) => event.startsWith('Node '));
      expect(named(world, ids, [...new Set(events)]).toSorted()).toEqual(
        row.said.map((said) => `Node ${said}`).sort(),
      );
      expect(world.pool(other).size).toBeGreaterThanOrEqual(8);
      expect(world.events(other.name)).toEqual([]);
      expect(controller.controller.unreadiness()).toBeUndefined();
      expect(world.broken()).toEqual([]);
      expect(world.pool(machine).size >= 8).toBe(row.isServed);
    },
  );
});

describe('on Alibaba Cloud, an account with interfaces in a form that nobody knows', () => {
  const isOdd = (item: Json): boolean =>
    isObject(item) && item['type'] === 'Secondary' && 'macAddress' in item;
  const tamper: Tamper = (action, output) => {
    if (action !== 'DescribeNetworkInterfaces') return output;
    const answer = JSON.parse(JSON.stringify(output)) as {
      networkInterfaceSets: { networkInterfaceSet: JsonObject[] };
    };
    const { networkInterfaceSet: all } = answer.networkInterfaceSets;
    const networkInterfaceSet = all.map((item) => (isOdd(item) ? { ...item, macAddress: '' } : item));
    return { ...answer, networkInterfaceSets: { networkInterfaceSet } };
  };

  test.each([
    [false, 0],
    [true, 3],
  ])('is listed if an option says to skip and count them: %s', async (isSkipping, unreadable) => {
    const world = worldFor({});
    const flags = { 'skip-unreadable-items': String(isSkipping) };
    const controller = startController(world, { tamper, flags });
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(5 * minute);

    const lines = controller.logged.filter(({ message }) => message === 'read the cloud');
    expect(lines.map(({ details }) => details['unreadableItems'])).toEqual(
      isSkipping ? lines.map(() => unreadable) : [],
    );
    expect(lines.length > 0).toBe(isSkipping);
    expect(await controller.metric('headwater_unreadable_items')).toBe(unreadable);
    expect(controller.controller.unreadiness() === undefined).toBe(isSkipping);
    expect(world.broken()).toEqual([]);
  });
});

describe('on Alibaba Cloud, a new leader', () => {
  test.each([
    [
      'a key that does not exist',
      ['InvalidAccessKeyId.NotFound', 404, 'Specified access key is not found.'],
      'CredentialsInvalid: check the credentials that Headwater uses: the cloud answers InvalidAccessKeyId.NotFound: Specified access key is not found.',
    ],
    [
      'a wrong secret',
      ['SignatureDoesNotMatch', 400, 'Specified signature does not match our calculation.'],
      'CredentialsInvalid: check the credentials that Headwater uses: the cloud answers SignatureDoesNotMatch: Specified signature does not match our calculation.',
    ],
    [
      'credentials that have expired',
      ['InvalidSecurityToken.Expired', 400, 'Specified SecurityToken is expired.'],
      "CredentialsExpired: renew Headwater's credentials, or set its clock: the cloud answers InvalidSecurityToken.Expired: Specified SecurityToken is expired.",
    ],
    [
      'a wrong region',
      ['InvalidRegionId.NotFound', 404, 'The specified RegionId does not exist.'],
      'CallFailed: the cloud answers InvalidRegionId.NotFound: The specified RegionId does not exist. (set --alibaba-cloud-region to the region of the nodes)',
    ],
  ] as const)(
    'with %s withdraws nothing, is not ready, and says why in one sentence',
    async (_, [code, status, message], said) => {
      const world = worldFor({});
      const { controller, before } = await replaceLeader(world, () =>
        world.fault('*', { kind: 'error', code, status, message }),
      );

      const sentence = (text: string): string => text.replace(/Describe\w+/, 'ACTION');
      expect(sentence(controller.controller.unreadiness() ?? '')).toBe(
        `it cannot read the cloud: ${said.replace(/^\w+: /, '')}`,
      );
      for (const machine of world.machines)
        expect(world.events(machine.name).map(sentence)).toContain(`Node ${said}`);
      expect(before.every((pool) => pool.length >= 8)).toBe(true);
      expect(poolsOf(world)).toEqual(before);
      expect(world.broken()).toEqual([]);
    },
  );

  test('that is throttled for ever withdraws nothing, is not ready, and asks rarely', async () => {
    const world = worldFor({});
    const { controller, before } = await replaceLeader(world, () => world.fault('*', { kind: 'throttle' }));

    expect(controller.controller.unreadiness()).toMatch(/^it cannot read the cloud: .*Throttling/);
    expect(poolsOf(world)).toEqual(before);
    expect(controller.calls.length).toBeLessThan(20 * 20);
    expect(world.broken()).toEqual([]);
  });

  test('of another account, where nothing is, withdraws nothing, is not ready, and says so', async () => {
    const world = worldFor({});
    const nothing: Readonly<Record<string, object>> = {
      DescribeVpcs: { vpcs: { vpc: [] }, totalCount: 0 },
      DescribeVSwitches: { vSwitches: { vSwitch: [] }, totalCount: 0 },
      DescribeSecurityGroups: { securityGroups: { securityGroup: [] }, totalCount: 0 },
      DescribeNetworkInterfaces: { networkInterfaceSets: { networkInterfaceSet: [] } },
      DescribeInstances: { instances: { instance: [] } },
    };
    const tamper: Tamper = (action, output) => nothing[action] ?? output;
    const { controller, before } = await replaceLeader(world, () => undefined, { tamper });

    expect(controller.controller.unreadiness()).toBe(
      'none of the 2 instances of vpc-main is in cn-hangzhou: is this the right region and role? Nothing is taken away until most of them are found',
    );
    for (const { name, instanceId } of world.machines)
      expect(world.events(name)).toContain(
        `Node InstanceNotFound: instance ${instanceId} is not found: check Headwater's region, account and role, and spec.instance-id; delete the CiliumNode only if the Kubernetes Node is gone too`,
      );
    expect(poolsOf(world)).toEqual(before);
    expect(world.broken()).toEqual([]);
  });

  test('of another VPC serves no node, withdraws nothing, and names the option', async () => {
    const world = worldFor({});
    const flags = { 'alibaba-cloud-vpc-id': 'vpc-other' };
    const { controller, before } = await replaceLeader(world, () => undefined, { flags });

    expect(controller.controller.unreadiness()).toBe(
      'no node is served: --alibaba-cloud-vpc-id restricts Headwater to vpc-other, and all nodes name vpc-main',
    );
    expect(poolsOf(world)).toEqual(before);
    expect(world.broken()).toEqual([]);
  });
});
