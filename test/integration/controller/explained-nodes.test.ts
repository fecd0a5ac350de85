// The chain from the need of a node to its remedy, as `headwater explain` prints it, for staged causes on each cloud. The causes
// of EC2 that block a node are in said-everywhere.test.ts.
import { describe, expect, test } from '@jest/globals';
import { sanitizedText } from '../../../src/network/untrusted-text.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { AzureWorld } from '../../support/azure-world.ts';
import { explained, toldOf } from '../../support/explained.ts';
import { ids, instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { World, type WorldOptions } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const minute = 60_000;

interface Staged {
  readonly world: World;
  readonly controller: WorldController;
  readonly lines: () => readonly string[];
}

async function stage(
  options: WorldOptions,
  before: (world: World) => void = () => undefined,
): Promise<Staged> {
  const world = new World(options);
  const controller = startController(world);
  const machine = world.machine();
  before(world);
  await world.announce(machine);
  await world.advance(4 * minute);
  return { world, controller, lines: () => explained(controller.controller, machine.name) };
}

const refusal = { kind: 'error', code: 'OperationNotPermitted', status: 400, message: 'refused' } as const;

describe('headwater explain, on EC2', () => {
  test('of a node that is well says what it has, and that it wants nothing', async () => {
    const { lines } = await stage({});

    const told = lines();

    expect(told[0]).toMatch(/: satisfied$/);
    expect(toldOf(told, 'wants')).toEqual(['nothing']);
    expect(toldOf(told, 'watermarks')).toEqual(['pre-allocate 8']);
    expect(toldOf(told, 'has')).toEqual(['8 addresses, 0 of them used']);
    expect(toldOf(told, 'can have')).toEqual([
      '27 addresses for pods: m5.large has 3 interfaces of 10 addresses each, 1 attached',
    ]);
    expect(toldOf(told, 'next try')).toEqual(['when it wants something']);
    expect(toldOf(told, 'sooner by')).toEqual(['pods that start or wait; higher watermarks']);
    expect(told.filter((line) => /^reason|^warning/.test(line))).toEqual([]);
  });

  test.each<[string, WorldOptions, (world: World) => void, RegExp]>([
    [
      'lacks the tags that the node names',
      { configure: () => ({ eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } }) },
      () => undefined,
      /^subnet-0000000000000000a \(nodes\) in us-east-1a, \d+ free: it lacks the tags purpose=pods$/,
    ],
    [
      'is none of the ids that the node names',
      { configure: () => ({ eni: { subnetIds: [ids.pods], firstInterfaceIndex: 1 } }) },
      () => undefined,
      /^subnet-0000000000000000c \(more-pods\) in us-east-1a, \d+ free: the node names other ids$/,
    ],
    [
      'is in another zone',
      {
        cloud: testCloud({
          subnets: [subnets.nodes, { ...subnets.pods, zone: 'us-east-1b' }],
          routeTables: [],
        }),
      },
      () => undefined,
      /^subnet-0000000000000000b \(pods\) in us-east-1b, \d+ free: it is in us-east-1b, and the node in us-east-1a$/,
    ],
    [
      'has other routes',
      {
        cloud: testCloud({ routeTables: [{ name: 'private', subnets: ['nodes', 'pods'] }] }),
        configure: () => ({ eni: { firstInterfaceIndex: 1 } }),
      },
      (world) => void world.occupy(ids.nodes),
      /^subnet-0000000000000000c \(more-pods\) in us-east-1a, \d+ free: its routes are not those of the node's own subnet$/,
    ],
    [
      'is full',
      { configure: () => ({ eni: { firstInterfaceIndex: 1 } }) },
      (world) => void world.occupy(ids.nodes),
      /^subnet-0000000000000000a \(nodes\) in us-east-1a, 0 free: no address is left in it$/,
    ],
    [
      'is not needed, because the own subnet of the node has room',
      {},
      () => undefined,
      /^subnet-0000000000000000b \(pods\) in us-east-1a, \d+ free: the node's own subnet has room and comes first$/,
    ],
    [
      'refused its interface',
      { configure: () => ({ eni: { subnetIds: [ids.pods], firstInterfaceIndex: 1 } }) },
      (world) => world.fault('CreateNetworkInterface', refusal),
      /^subnet-0000000000000000b \(pods\) in us-east-1a, \d+ free: .*CreateNetworkInterface answers OperationNotPermitted: refused$/,
    ],
  ])('says why a subnet serves the node no more that %s', async (_, options, before, line) => {
    const { lines } = await stage(options, before);

    expect(toldOf(lines(), 'not')).toContainEqual(expect.stringMatching(line));
  });

  test('of a Node whose agent made no CiliumNode says so, and what to look at', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
    const { controller } = startController(world);
    await world.announce(world.machine());
    const lonely = world.machine(1);
    await world.register(lonely);
    await world.advance(minute);

    const lines = explained(controller, lonely.name);

    expect(lines[0]).toBe(`${lonely.name}: awaits agent`);
    expect(toldOf(lines, 'why')).toEqual([
      'the Node has no CiliumNode, because its Cilium agent has not started there: see why the Cilium agent does not run there: it creates the CiliumNode',
    ]);
    expect(toldOf(lines, 'next try')).toEqual(['when its agent creates the CiliumNode']);
    expect(controller.node(`${lonely.name.slice(0, -1)}_`)).toMatchObject({ known: false });
  });

  test('tells the last ten calls, newest first, with what the cloud answered', async () => {
    const taken = [1, 2].map((deviceIndex) => ({ deviceIndex, requesterManaged: true }));
    const cloud = testCloud({ instances: [instance({ interfaces: taken })] });
    const { world, controller } = await stage({ cloud }, (each) => {
      each.fault('AssignPrivateIpAddresses', refusal);
    });

    await world.advance(30 * minute);
    const node = controller.controller.node(world.machine().name);
    const calls = node.known ? node.calls : [];

    const asked = controller.calls.filter(({ action }) => action === 'AssignPrivateIpAddresses');
    expect(asked.length).toBeGreaterThan(10);
    expect(calls).toHaveLength(10);
    expect(calls[0]).toEqual({
      secondsAgo: expect.any(Number),
      operation: 'allocateIPs',
      resource: expect.stringMatching(/^eni-/),
      outcome: 'refused',
      action: 'AssignPrivateIpAddresses',
      code: 'OperationNotPermitted',
      message: 'refused',
    });
  });

  test('fits 80 columns and 20, and shows nothing that controls a terminal', async () => {
    const evil = '\u001b[2J\r\nadmin: ';
    const { controller, world } = await stage({}, (each) => {
      each.fault('AssignPrivateIpAddresses', { ...refusal, message: `${evil}${'x'.repeat(4000)}` });
    });

    const { name } = world.machine();

    for (const width of [20, 80])
      for (const line of explained(controller.controller, name, width))
        expect({ line, fits: line.length <= width, safe: sanitizedText(line) === line }).toEqual({
          line,
          fits: true,
          safe: true,
        });
  });

  test('names the nearest name for one that is not known', async () => {
    const { controller, world } = await stage({});
    const { name } = world.machine();

    expect(controller.controller.node(`${name}0`)).toMatchObject({ known: false, nearest: name });
    expect(controller.controller.node('nothing-like-it')).not.toHaveProperty('nearest');
  });
});

const group = '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nodes';
const scaleSets = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets`;
const update = 'VirtualMachineScaleSetVMs.Update';

function azureOf(block: string): string {
  return `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: ${block} }] }]
scaleSets: [{ name: pool, count: 2, interfaces: [{ name: nic0, subnet: a }] }]
`;
}

interface Expected {
  readonly reason?: string;
  readonly next: RegExp;
  readonly subnet?: RegExp;
  readonly call?: RegExp;
}

function check(lines: readonly string[], { reason, next, subnet, call }: Expected): void {
  expect(toldOf(lines, 'reason')).toEqual(reason === undefined ? [] : [reason]);
  expect(toldOf(lines, 'next try')).toEqual([expect.stringMatching(next)]);
  if (subnet !== undefined) expect(lines).toContainEqual(expect.stringMatching(subnet));
  if (call !== undefined) expect(lines).toContainEqual(expect.stringMatching(call));
}

describe('headwater explain, on Azure', () => {
  test.each<
    [
      string,
      {
        block?: string;
        preAllocate?: number;
        flags?: Record<string, string>;
        vm?: string;
        before?: (world: AzureWorld) => void;
      },
      Expected,
    ]
  >([
    [
      'is well',
      {},
      {
        next: /^when it wants something$/,
        subnet: /^eligible +\S+\/subnets\/a \(a\), \d+ free$/,
        call: /^\d+ \w+ ago +allocate IPs on \S+: done$/,
      },
    ],
    [
      'is in a full subnet',
      { block: '10.0.0.0/28', preAllocate: 30 },
      {
        reason: 'SubnetsExhausted',
        next: /free addresses are counted again|full subnet may be asked again/,
        subnet: /^not +\S+\/subnets\/a \(a\), 0 free: no address is left in it$/,
      },
    ],
    [
      'is in a subnet that Azure calls full',
      {
        before: (world) =>
          world.fault(update, { kind: 'error', code: 'SubnetIsFull', status: 400, message: 'full' }),
      },
      {
        reason: 'SubnetsRefused',
        next: /full subnet may be asked again|free addresses are counted again|call under way ends/,
        call: /answers SubnetIsFull: full/,
      },
    ],
    [
      'may not be updated',
      {
        before: (world) =>
          world.fault(update, {
            kind: 'error',
            code: 'AuthorizationFailed',
            status: 403,
            message: 'no',
          }),
      },
      { reason: 'AccessDenied', next: /may be tried again$/, call: /answers AuthorizationFailed: no/ },
    ],
    [
      'is outside what the options name',
      { flags: { 'azure-resource-group': 'others' } },
      { reason: 'InstanceNotManaged', next: /^when its CiliumNode, its Node or its instance changes$/ },
    ],
    [
      'has no VM',
      { vm: '99' },
      { reason: 'InstanceTerminated', next: /^when its CiliumNode, its Node or its instance changes$/ },
    ],
    [
      'waits for a pause to end',
      { flags: { pause: 'mutations' } },
      { reason: 'MutationsPaused', next: /^when the pause ends: it is paused \(--pause\)$/ },
    ],
  ])(
    'of a node that %s',
    async (_, { block = '10.0.0.0/24', preAllocate, flags, vm = '0', before }, expected) => {
      const world = new AzureWorld(azureOf(block), flags);
      before?.(world);
      await world.join(
        'one',
        `${scaleSets}/pool/virtualMachines/${vm}`,
        preAllocate === undefined ? {} : { preAllocate },
      );
      await world.clock.advance(10 * minute);

      check(explained(world.first.controller, 'one'), expected);
    },
  );

  test('shows in 80 columns which interface and which subnet it means', async () => {
    const world = new AzureWorld(azureOf('10.0.0.0/24'));
    await world.join('one', `${scaleSets}/pool/virtualMachines/0`);
    await world.clock.advance(minute);

    const lines = explained(world.first.controller, 'one', 80);

    expect(lines.filter((line) => line.endsWith('…'))).toEqual([]);
    expect(toldOf(lines, 'instance')).toEqual([expect.stringMatching(/^….*\/virtualMachines\/0$/i)]);
    expect(toldOf(lines, 'interface')).toEqual([
      expect.stringMatching(/^….*\/virtualMachines\/0\/networkInterfaces\/nic0:/i),
    ]);
    expect(lines).toContainEqual(expect.stringMatching(/^ +….*\/virtualNetworks\/main\/subnets\/a,/i));
  });
});

describe('headwater explain, on Alibaba Cloud', () => {
  test.each<
    [
      string,
      {
        cloud?: object;
        flags?: Record<string, string>;
        spec?: JsonObject;
        before?: (world: AlibabaWorld) => void;
      },
      Expected,
    ]
  >([
    [
      'is well',
      {},
      { next: /^when it wants something$/, subnet: /^eligible +vsw-\S+ \(\w+\) in cn-hangzhou-a, \d+ free$/ },
    ],
    [
      'asks for security groups that nobody has',
      { spec: { 'alibaba-cloud': { 'security-group-tags': { purpose: 'pods' } } } },
      { reason: 'NoSecurityGroupMatches', next: /^when the network is read again, each minute$/ },
    ],
    [
      'asks for vSwitches that nobody has',
      { spec: { 'alibaba-cloud': { 'vswitch-tags': { purpose: 'none' } } } },
      {
        reason: 'NoSubnetMatches',
        next: /^when the network is read again, each minute$/,
        subnet: /^not +vsw-\S+ \(\w+\) in cn-hangzhou-a, \d+ free: it lacks the tags purpose=none$/,
      },
    ],
    [
      'may get no interface',
      {
        before: (world) =>
          world.fault('CreateNetworkInterface', {
            kind: 'error',
            code: 'Forbidden.RAM',
            status: 403,
            message: 'no',
          }),
      },
      {
        reason: 'AccessDenied',
        next: /may be tried again$/,
        call: /create interface on vsw-\S+: refused, CreateNetworkInterface answers Forbidden\.RAM: no/,
      },
    ],
    [
      'is excluded by the tags of instances',
      { flags: { 'instance-tags-filter': 'role=worker' } },
      { reason: 'InstanceNotManaged', next: /^when its CiliumNode, its Node or its instance changes$/ },
    ],
    [
      'waits for a pause to end',
      { flags: { pause: 'mutations' } },
      { reason: 'MutationsPaused', next: /^when the pause ends: it is paused \(--pause\)$/ },
    ],
  ])('of a node that %s', async (_, { flags = {}, spec = {}, before }, expected) => {
    const world = new AlibabaWorld({ cloud: testAlibaba({ instances: [ecsInstance()] }) });
    const machine = world.machine();
    const controller = startController(world, { flags });
    before?.(world);
    await world.announce(machine, { spec });
    await world.advance(4 * minute);

    check(explained(controller.controller, machine.name), expected);
  });
});
