import { describe, expect, test } from '@jest/globals';
import { textAt } from '../../../src/simulator/workload/json.ts';
import { AzureWorld } from '../../support/azure-world.ts';

const group = '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nodes';
const vm = (number: number) =>
  `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/${number}`;

const topology = `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }] }]
scaleSets: [{ name: pool, count: 3, interfaces: [{ name: nic0, subnet: a }] }]
`;

const minute = 60_000;
const update = 'VirtualMachineScaleSetVMs.Update';

describe('a node on Azure', () => {
  test('gets its addresses in one update, with all that an agent needs', async () => {
    const world = new AzureWorld(topology);
    await world.join('one', vm(0));

    await world.clock.advance(5 * minute);

    const pool = await world.pool('one');
    const [item = {}] = await world.interfaces('one');
    expect(world.bugs).toEqual([]);
    expect(Object.keys(pool)).toHaveLength(8);
    expect(new Set(Object.values(pool))).toEqual(new Set([textAt(item, 'id')]));
    expect(item).toMatchObject({
      name: 'nic0',
      state: 'succeeded',
      cidr: '10.0.0.0/24',
      gateway: '10.0.0.1',
      subnet: { cidr: '10.0.0.0/24' },
    });
    expect(world.counts()['VirtualMachineScaleSetVMs.Update']).toBe(1);
  });

  test('lets Headwater be ready as soon as it is read', async () => {
    const world = new AzureWorld(topology);
    await world.clock.advance(minute);
    await world.join('one', vm(0));

    await world.clock.advance(minute);

    expect(world.first.controller.unreadiness()).toBeUndefined();
  });

  test('costs nothing more once it has them', async () => {
    const world = new AzureWorld(topology);
    for (const number of [0, 1, 2]) await world.join(`node-${number}`, vm(number));
    await world.clock.advance(5 * minute);
    const before = world.counts();

    await world.clock.advance(60 * minute);

    const since = Object.entries(world.counts()).map(([name, count]) => [name, count - (before[name] ?? 0)]);
    // One list of the scale set, and its subnet, for each resync of ten minutes.
    expect(since.filter(([, count]) => count !== 0)).toEqual([
      ['Subnets.Get', 6],
      ['Interfaces.ListVirtualMachineScaleSetNetworkInterfaces', 6],
    ]);
  });

  test('is served although another names no VM, and a third one that is gone', async () => {
    const world = new AzureWorld(topology);
    await world.join('wrong', '/subscriptions/s/nonsense');
    await world.join('gone', vm(99));
    await world.join('good', vm(1));

    await world.clock.advance(5 * minute);

    expect(Object.keys(await world.pool('good'))).toHaveLength(8);
    expect(Object.keys(await world.pool('wrong'))).toEqual([]);
    expect(world.bugs).toEqual([]);
  });

  test('of a subscription that is not there is not served, and says why', async () => {
    const world = new AzureWorld(topology);
    await world.join('elsewhere', vm(0).replace('000000000001', '000000000009'));
    await world.join('good', vm(1));

    await world.clock.advance(5 * minute);

    expect(Object.keys(await world.pool('good'))).toHaveLength(8);
    expect(Object.keys(await world.pool('elsewhere'))).toEqual([]);
    expect(JSON.stringify(world.logged)).toContain(
      "The subscription '00000000-0000-0000-0000-000000000009' could not be found",
    );
  });

  test('that cannot be read keeps Headwater from being ready, and says why in one sentence', async () => {
    const world = new AzureWorld(topology);
    await world.join('elsewhere', vm(0).replace('000000000001', '000000000009'));

    await world.clock.advance(5 * minute);

    expect(world.first.controller.unreadiness()).toContain(
      "SubscriptionNotFound: The subscription '00000000-0000-0000-0000-000000000009' could not be found.",
    );
  });

  test('outside what the options name is not asked about, and says why', async () => {
    const world = new AzureWorld(topology, { 'azure-resource-group': 'others' });
    await world.join('one', vm(0));

    await world.clock.advance(5 * minute);

    expect(world.status('one')).toMatchObject({
      reason: 'InstanceNotManaged',
      why: `instance ${vm(0).toLowerCase()} is outside what --azure-subscription-id and --azure-resource-group name`,
    });
    expect(world.calls.filter(({ operation }) => operation.includes('ScaleSet'))).toEqual([]);
  });

  test('in a full subnet says so', async () => {
    const world = new AzureWorld(topology.replace('10.0.0.0/24 }] }]', '10.0.0.0/28 }] }]'));
    await world.join('one', vm(0), { preAllocate: 30 });

    await world.clock.advance(10 * minute);

    // 16 addresses without five reserved ones and the primary ones of three VMs.
    expect(Object.keys(await world.pool('one'))).toHaveLength(8);
    expect(world.status('one')).toMatchObject({
      reason: 'SubnetsExhausted',
      why: expect.stringMatching(
        /^no address is left in \S+: free addresses there, or move the nodes to VMs whose interfaces are in a larger subnet$/,
      ),
    });
  });

  test('in a subnet that Azure calls full, and counts many free addresses in, is told both', async () => {
    const world = new AzureWorld(topology.replace('10.0.0.0/24 }] }]', '10.0.0.0/20 }] }]'));
    world.fault(update, {
      kind: 'error',
      code: 'SubnetIsFull',
      status: 400,
      message: 'Subnet a does not have enough capacity for 8 IP addresses.',
    });
    await world.join('one', vm(0));

    await world.clock.advance(10 * minute);

    expect(world.status('one')).toMatchObject({
      reason: 'SubnetsRefused',
      why: expect.stringMatching(
        /^the cloud calls \S+\/subnets\/a full, although it counts free addresses there: /,
      ),
    });
    expect(world.counts()[update]).toBeGreaterThan(2);
    const told = world.logged.filter(({ details }) => details?.['why'] !== undefined);
    expect(told.map(({ details }) => details?.['reason'])).toEqual(['SubnetsRefused']);
  });

  test.each(['fd00:1::/64', '10.0.9.0/25'])(
    'in a subnet that lists %s first has the prefix of its interface',
    async (other) => {
      const several = topology.replace(
        'block: 10.0.0.0/24',
        `block: 10.0.0.0/24, otherPrefixes: ['${other}']`,
      );
      const world = new AzureWorld(several);
      await world.join('one', vm(0));

      await world.clock.advance(15 * minute);

      expect(await world.interfaces('one')).toMatchObject([
        { cidr: '10.0.0.0/24', gateway: '10.0.0.1', subnet: { cidr: '10.0.0.0/24' } },
      ]);
    },
  );

  test.each([
    ['ParentResourceNotFound', 404, 'Can not perform requested operation on nested resource.'],
    ['OperationNotAllowed', 409, "Operation 'Update VM' is not allowed since the VM is marked for deletion."],
  ])('that is going costs two calls, and slows no other down (%s)', async (code, status, message) => {
    const world = new AzureWorld(topology);
    const fault = { kind: 'error', code, status, message } as const;
    const match = { path: vm(0).toLowerCase() };
    world.arm.gateway.faults.add({ action: update, rate: 1, match, fault });
    await world.join('going', vm(0));
    await world.clock.advance(minute);
    for (const number of [1, 2]) await world.join(`node-${number}`, vm(number));
    await world.clock.advance(2 * minute);

    const refused = world.calls.filter(({ result }) => result === code);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThanOrEqual(2);
    for (const number of [1, 2]) expect(Object.keys(await world.pool(`node-${number}`))).toHaveLength(8);
  });

  test('is served in a cloud that has only older versions of the API, at the cost of one refusal each', async () => {
    const versions = ['2018-10-01', '2023-09-01', '2024-07-01', '2025-04-01', '2026-01-01-preview'];
    const world = new AzureWorld(`${topology}apiVersions: ['${versions.join("', '")}']\n`);
    await world.join('one', vm(0));

    await world.clock.advance(5 * minute);

    expect(Object.keys(await world.pool('one'))).toHaveLength(8);
    const refused = world.calls.filter(({ result }) => result === 'NoRegisteredProviderFound');
    expect(refused.length).toBeLessThanOrEqual(2);
    expect(refused.length).toBeGreaterThan(0);
  });

  test('of a scale set that Azure no longer finds says so, and keeps what it has', async () => {
    const sets = '{ name: pool, count: 3, interfaces: [{ name: nic0, subnet: a }] }';
    const world = new AzureWorld(topology.replace(sets, `${sets}, ${sets.replace('pool', 'other')}`));
    await world.join('one', vm(0));
    await world.join('other', vm(0).replace('/pool/', '/other/'));
    await world.clock.advance(5 * minute);
    const other = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/other/networkInterfaces`;

    const fault = { kind: 'error', code: 'ResourceNotFound', status: 404, message: 'not found' } as const;
    world.arm.gateway.faults.add({ action: '*', rate: 1, match: { path: other.toLowerCase() }, fault });
    await world.clock.advance(30 * minute);

    const said = (name: string) => JSON.stringify(world.status(name)['warnings']);
    expect(said('other')).toContain('the cloud no longer shows the instance, which keeps what it has');
    expect(said('one')).not.toContain('no longer shows');
    expect(Object.keys(await world.pool('other'))).toHaveLength(8);
  });

  test('shares 256 addresses among its interfaces, and says so when they are used up', async () => {
    const two = '[{ name: nic0, subnet: a }, { name: nic1, subnet: a }]';
    const large = topology
      .replace('10.0.0.0/24 }', '10.0.0.0/22 }')
      .replace('[{ name: nic0, subnet: a }]', two);
    const world = new AzureWorld(large);
    await world.join('one', vm(0), { preAllocate: 400 });

    await world.clock.advance(10 * minute);

    const refused = world.calls.filter(({ result }) => result.includes('Exceed'));
    expect(Object.keys(await world.pool('one'))).toHaveLength(256 - 2);
    expect(refused).toEqual([]);
  });

  test('finds a limit of its VM that is lower than is known', async () => {
    const world = new AzureWorld(`${topology}configurationsPerMachine: 30\n`);
    await world.join('one', vm(0), { preAllocate: 100 });

    await world.clock.advance(30 * minute);

    expect(Object.keys(await world.pool('one'))).toHaveLength(30 - 1);
    expect(JSON.stringify(world.status('one'))).toContain('IpConfigurationsOnVirtualMachineExceeded');
    const updates = world.counts()['VirtualMachineScaleSetVMs.Update'] ?? 0;
    await world.clock.advance(10 * minute);
    expect((world.counts()['VirtualMachineScaleSetVMs.Update'] ?? 0) - updates).toBeLessThanOrEqual(15);
  });

  test('with an unknown interface-name says so', async () => {
    const world = new AzureWorld(topology);
    await world.join('one', vm(0), { azure: { 'interface-name': 'nic7' } });

    await world.clock.advance(5 * minute);

    expect(Object.keys(await world.pool('one'))).toEqual([]);
    expect(JSON.stringify(world.status('one'))).toContain('nic7');
  });

  test.each([
    ['lost', { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 }],
    ['lost before it takes effect', { kind: 'lost', effect: 'after', connection: 'drop', delayMs: 0 }],
    ['late', { kind: 'lost', effect: 'late', connection: 'hang', delayMs: 30_000 }],
    ['a conflict', { kind: 'error', code: 'OperationNotAllowed', status: 409, message: 'busy' }],
    ['a throttle', { kind: 'throttle' }],
    ['a failure in the end', { kind: 'failed', code: 'RetryableError', message: 'try again' }],
  ] as const)('gets its addresses though the answer to its first update is %s', async (_, fault) => {
    const world = new AzureWorld(topology);
    world.fault('VirtualMachineScaleSetVMs.Update', fault, 1);
    await world.join('one', vm(0));

    await world.clock.advance(15 * minute);

    expect(world.bugs).toEqual([]);
    expect(Object.keys(await world.pool('one')).length).toBeGreaterThanOrEqual(8);
    expect(Object.keys(await world.pool('one')).length).toBeLessThanOrEqual(16);
  });
});

describe('a new leader on Azure', () => {
  test('lets an update end that the former one began, and repeats nothing', async () => {
    const world = new AzureWorld(topology);
    await world.join('one', vm(0));
    await world.clock.runUntil(() => world.counts()['VirtualMachineScaleSetVMs.Update'] === 1, minute);

    world.first.kill();
    world.start('headwater-1');
    await world.clock.advance(5 * minute);

    expect(world.bugs).toEqual([]);
    expect(Object.keys(await world.pool('one'))).toHaveLength(8);
    expect(world.counts()['VirtualMachineScaleSetVMs.Update']).toBe(1);
  });

  test('shows the interface by the id that it was shown by before', async () => {
    const world = new AzureWorld(`${topology}\nrespelled: 0.5`);
    await world.join('one', vm(0));
    await world.clock.advance(3 * minute);
    const before = await world.pool('one');

    world.first.kill();
    world.start('headwater-1');
    await world.clock.advance(10 * minute);

    expect(Object.keys(before)).toHaveLength(8);
    expect(await world.pool('one')).toEqual(before);
    expect(await world.interfaces('one')).toHaveLength(1);
  });
});

describe('150 nodes of five scale sets on Azure', () => {
  test('that join together cost one update each, and at most three reads', async () => {
    const sets = Array.from({ length: 5 }, (_, index) => `pool${index}`);
    const world = new AzureWorld(
      `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/8], subnets: [{ name: a, block: 10.0.0.0/16 }] }]
scaleSets: [${sets.map((name) => `{ name: ${name}, count: 30, interfaces: [{ name: nic0, subnet: a }] }`).join(', ')}]
`,
      { 'cloud-quota-share': '1' },
    );
    const names = sets.flatMap((set) => Array.from({ length: 30 }, (_, number) => `${set}-${number}`));
    for (const name of names) {
      const [set = '', number = ''] = name.split('-');
      await world.join(name, vm(Number(number)).replace('/pool/', `/${set}/`), { preAllocate: 30 });
    }

    await world.clock.advance(3 * minute);

    const pools = await Promise.all(names.map((name) => world.pool(name)));
    const counts = world.counts();
    const updates = counts['VirtualMachineScaleSetVMs.Update'] ?? 0;
    const all = world.calls.length;
    expect(pools.map((pool) => Object.keys(pool).length)).toEqual(names.map(() => 30));
    expect(updates).toBe(names.length);
    // The last fifty are followed one by one. The more nodes, the less that counts.
    expect((all - updates) / updates).toBeLessThanOrEqual(3);
    expect(world.calls.filter(({ result }) => result !== 'OK')).toEqual([]);
  });
});

describe('a limit of Azure that another client has nearly used up', () => {
  test('is spared as soon as an answer says what is left of it', async () => {
    const world = new AzureWorld(
      topology.replace('count: 3', 'count: 40').replace('10.0.0.0/24', '10.0.0.0/22'),
      { 'cloud-quota-share': '1' },
    );
    await world.join('first', vm(0));
    await world.clock.advance(2 * minute);
    world.arm.gateway.limits.drain(`ScaleSetVmUpdate ${group.split('/')[2]}`, 1495);
    await world.join('second', vm(1));
    await world.clock.advance(1000);

    const later = Array.from({ length: 38 }, (_, index) => `node-${index}`);
    for (const [index, name] of later.entries()) await world.join(name, vm(index + 2));
    await world.clock.advance(5 * minute);

    const refused = world.calls.filter(({ result }) => result === 'TooManyRequests');
    const pools = await Promise.all(later.map((name) => world.pool(name)));
    expect(pools.map((pool) => Object.keys(pool).length)).toEqual(later.map(() => 8));
    expect(refused).toEqual([]);
  });
});
