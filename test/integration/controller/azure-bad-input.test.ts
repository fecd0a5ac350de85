import { describe, expect, test } from '@jest/globals';
import type { ArmCloud } from '../../../src/simulator/arm/arm-cloud.ts';
import { deleteMachine } from '../../../src/simulator/arm/machine-changes.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  textAt,
} from '../../../src/simulator/workload/json.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { controllerPrincipal, otherPrincipal, scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { poolsOf, replaceLeader } from '../../support/replaced-leader.ts';
import { type ControllerSetup, startController } from '../../support/world-controller.ts';

const minute = 60_000;
const group = '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nodes';
const bad = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/bad/virtualMachines/0`;
const instance = bad.toLowerCase();
const [nic0, nic1] = [`${bad}/networkInterfaces/nic0`, `${bad}/networkInterfaces/nic1`];
const theirs = `${group}/providers/Microsoft.Network/virtualNetworks/other/subnets/theirs`;

type Tamper = NonNullable<ControllerSetup['tamper']>;

interface BadInput {
  /** Subnets of the interfaces of the bad VM; two of the nodes' own by default. */
  readonly subnets?: readonly string[];
  /** What Headwater may do besides everything in the network of the others; everything by default. */
  readonly roles?: readonly { readonly scope: string; readonly actions: readonly string[] }[];
  readonly prepare?: (cloud: ArmCloud, world: AzureClusterWorld) => void;
  readonly tamper?: (cloud: ArmCloud) => Tamper;
  /** Merged into the CiliumNode. */
  readonly patch?: JsonObject;
  readonly withoutNode?: true;
  /** Events on the node, as reason and text. */
  readonly said: readonly string[];
  readonly setAside: 'the interface' | 'the node' | 'nothing';
}

const networks = [
  { name: 'main', blocks: ['10.0.0.0/16'], subnets: [{ name: 'pods', block: '10.0.16.0/20' }] },
  { name: 'other', blocks: ['10.1.0.0/16'], subnets: [{ name: 'theirs', block: '10.1.16.0/20' }] },
];

/** `roles`: the roles of the controllers; all permissions by default. */
function principals(roles: BadInput['roles']): readonly object[] {
  return [controllerPrincipal, otherPrincipal].map((name, index) => ({
    name,
    clientId: `00000000-0000-0000-0000-0000000000c${index}`,
    secret: `headwater-${name}`,
    ...(index === 0 && roles !== undefined && { roles }),
  }));
}

/** A bad VM of a scale set of its own, and a good one. */
function worldFor({ subnets = ['main/pods', 'main/pods'], roles }: BadInput): AzureClusterWorld {
  const interfaces = subnets.map((subnet, index) => ({ name: `nic${index}`, subnet }));
  const good = scaleSet({ interfaces: [{ name: 'nic0', subnet: 'main/pods' }] });
  return new AzureClusterWorld({
    cloud: testAzure({
      principals: principals(roles && [everythingOfOthers, ...roles]),
      virtualNetworks: networks,
      scaleSets: [scaleSet({ name: 'bad', interfaces }), good],
    }),
  });
}

const everythingOfOthers = {
  scope: `${group}/providers/Microsoft.Network/virtualNetworks/main`,
  actions: ['*'],
};
const everythingOfVms = { scope: `${group}/providers/Microsoft.Compute`, actions: ['*'] };

/** Changes how one interface of the bad VM looks, wherever an answer shows it. */
function shown(edit: (nic: JsonObject) => JsonObject, name = 'nic1'): () => Tamper {
  const see = (value: Json | undefined): Json | undefined => {
    if (!isObject(value)) return value;
    const items = listAt(value, 'value');
    if (items.length > 0) return { ...value, value: items.map((item) => see(item) ?? null) };
    const isMeant =
      textAt(value, 'name').toLowerCase() === name &&
      textAt(value, 'properties', 'virtualMachine', 'id').toLowerCase() === instance;
    return isMeant ? edit(value) : value;
  };
  return () => (_, answer) => ({ ...answer, body: see((answer as { readonly body?: Json }).body) });
}

const without = (value: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([each]) => each !== name));

const properties = (edit: (properties: JsonObject) => JsonObject) => (item: Json) => ({
  ...objectAt(item),
  properties: edit(objectAt(item, 'properties')),
});

/** Changes the primary configuration, which is the first one. */
const first = (edit: (properties: JsonObject) => JsonObject) =>
  properties((nic) => {
    const [primary = null, ...others] = listAt(nic, 'ipConfigurations');
    return { ...nic, ipConfigurations: [properties(edit)(primary), ...others] };
  });

const unreadable = (problem: string, id = nic1) =>
  `InterfaceUnreadable: interface ${id} cannot be read and is not used: ${problem}`;

const update = 'VirtualMachineScaleSetVMs.Update';
const vms = 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines';
const join = 'Microsoft.Network/virtualNetworks/subnets/join/action';
const anyVm = instance.replace(/0$/, '…');
const client = '00000000-0000-0000-0000-0000000000c0';

const denied = (reason: string, permission: string, call: string, scope: string) =>
  `${reason}: allow ${permission} to Headwater's role: ${call} answers AuthorizationFailed: The client '${client}' with object id '${client}' does not have authorization to perform action '${permission}' over scope '${scope}' or the scope is invalid. If access was recently granted, please refresh your credentials.`;

const rows: Readonly<Record<string, BadInput>> = {
  'an interface without a MAC address': {
    tamper: shown(properties((nic) => without(nic, 'macAddress'))),
    said: [unreadable('it has no MAC address; its VM may be deallocated')],
    setAside: 'the interface',
  },
  'an interface without a subnet': {
    tamper: shown(first((configuration) => without(configuration, 'subnet'))),
    said: [unreadable('its primary configuration names no subnet')],
    setAside: 'the interface',
  },
  'an interface without an address': {
    tamper: shown(first((configuration) => without(configuration, 'privateIPAddress'))),
    said: [unreadable('its primary configuration has no address')],
    setAside: 'the interface',
  },
  'a malformed address': {
    tamper: shown(first((configuration) => ({ ...configuration, privateIPAddress: '10.0.016.4' }))),
    said: [unreadable('"10.0.016.4" is not an IPv4 address')],
    setAside: 'the interface',
  },
  'an address that is malformed only once it was added': {
    subnets: ['main/pods'],
    tamper: shown(
      properties((nic) => {
        const [primary = null, ...others] = listAt(nic, 'ipConfigurations');
        const spoiled = others.map(properties((each) => ({ ...each, privateIPAddress: '10.0.16.300' })));
        return { ...nic, ipConfigurations: [primary, ...spoiled] };
      }),
      'nic0',
    ),
    said: [
      `InterfaceUnreadable: interface ${nic0} can no longer be read and gets no more addresses: "10.0.16.300" is not an IPv4 address`,
      `InterfaceUnreadable: repair ${nic0} in the cloud, which cannot be read and gets no addresses, or free addresses on the others, which are full or excluded: "10.0.16.300" is not an IPv4 address`,
    ],
    setAside: 'the node',
  },
  'an interface whose id does not parse': {
    tamper: shown((nic) => ({ ...nic, id: 'nic1 of 0' })),
    said: [unreadable('its id is "nic1 of 0"', 'nic1 of 0')],
    setAside: 'the interface',
  },
  'an interface that names no VM': {
    tamper: shown(properties((nic) => without(nic, 'virtualMachine'))),
    said: [unreadable('it names no VM')],
    setAside: 'the interface',
  },
  'an interface whose VM has an id that does not parse': {
    tamper: shown(properties((nic) => ({ ...nic, virtualMachine: { id: 'the VM 0' } }))),
    said: [unreadable('its VM is "the VM 0"')],
    setAside: 'the interface',
  },
  'no interface that can be read': {
    subnets: ['main/pods'],
    prepare: (cloud) => {
      for (const record of cloud.interfacesOf(cloud.machine(instance)))
        cloud.putInterface({ ...record, mac: '' });
    },
    said: [
      unreadable('it has no MAC address; its VM may be deallocated', nic0),
      `InterfaceUnreadable: no interface of instance ${instance} can be read; of ${nic0}: it has no MAC address; its VM may be deallocated`,
    ],
    setAside: 'the node',
  },
  'an instance id that does not parse': {
    patch: { spec: { 'instance-id': '/subscriptions/s/nonsense' } },
    withoutNode: true,
    said: [
      "InstanceNotFound: instance /subscriptions/s/nonsense is not found: check that Headwater's role covers its resource group, and spec.instance-id; delete the CiliumNode only if the Kubernetes Node is gone too",
    ],
    setAside: 'the node',
  },
  'an instance id that does not parse, beside a Node': {
    patch: { spec: { 'instance-id': '/subscriptions/s/nonsense' } },
    said: [
      `InstanceMismatch: spec.instance-id is /subscriptions/s/nonsense and the provider ID of Node ip-10-0-30-191 names ${instance}: correct spec.instance-id, or delete the Node if it is of a former instance`,
    ],
    setAside: 'the node',
  },
  'a VM that is deleted between the list and the update': {
    tamper: (cloud) => {
      let isDeleted = false;
      return (action, answer) => {
        if (action === 'VirtualMachineScaleSetVMs.Get' && !isDeleted) {
          isDeleted = true;
          deleteMachine(cloud, cloud.machine(instance));
        }
        return answer;
      };
    },
    said: [
      'CallFailed: VirtualMachineScaleSetVMs.Get answers NotFound: The VM with id 0 in the virtual machine scale set bad was not found. The entity was not found in this Azure location.',
      `InstanceTerminated: instance ${instance} is terminated: delete the Node and its CiliumNode, unless a new instance takes the name over`,
    ],
    setAside: 'the node',
  },
  'an interface and a VM whose last update failed': {
    subnets: ['main/pods'],
    prepare: (cloud) => {
      const machine = cloud.machine(instance);
      cloud.machines.put({ ...machine, state: 'Failed' });
    },
    tamper: shown(
      properties((nic) => ({ ...nic, provisioningState: 'Failed' })),
      'nic0',
    ),
    said: [],
    setAside: 'nothing',
  },
  'a configuration that failed': {
    subnets: ['main/pods'],
    tamper: shown(
      first((configuration) => ({ ...configuration, provisioningState: 'Failed' })),
      'nic0',
    ),
    said: [
      `InterfaceFailed: the last update of ${nic0} failed in the cloud: repair or update the interface there, which Headwater then uses again`,
    ],
    setAside: 'the node',
  },
  'a VM in the middle of an upgrade': {
    subnets: ['main/pods'],
    prepare: (cloud) => cloud.machines.put({ ...cloud.machine(instance), state: 'Updating' }),
    said: [
      `CallFailed: wait until the change under way has ended; Headwater retries: ${update} answers ModelIsChanging: the provisioning state is Updating`,
    ],
    setAside: 'the node',
  },
  'an interface in the middle of an upgrade': {
    subnets: ['main/pods'],
    tamper: shown(
      properties((nic) => ({ ...nic, provisioningState: 'Updating' })),
      'nic0',
    ),
    said: [
      `InterfaceChanging: end or repair in the cloud what keeps changing ${nic0}, such as an upgrade of the instance or a detachment: Headwater adds no address there until it has ended`,
    ],
    setAside: 'the node',
  },
  'an unknown interface-name': {
    patch: { spec: { azure: { 'interface-name': 'nic7' } } },
    said: [
      `InterfaceNameUnknown: spec.azure.interface-name is nic7, and instance ${instance} has no such interface: name one of nic0, nic1`,
    ],
    setAside: 'the node',
  },
  'a subnet of another virtual network that it may not read': {
    subnets: ['other/theirs'],
    roles: [everythingOfVms],
    said: [
      denied(
        'NetworkUnreadable',
        'Microsoft.Network/virtualNetworks/subnets/read',
        'Subnets.Get',
        theirs.toLowerCase(),
      ),
    ],
    setAside: 'the node',
  },
  'a subnet of another virtual network in which it may add nothing': {
    subnets: ['other/theirs'],
    roles: [everythingOfVms, { scope: theirs, actions: ['Microsoft.Network/virtualNetworks/subnets/read'] }],
    said: [
      `AccessDenied: allow ${join} to Headwater's role: ${update} answers LinkedAuthorizationFailed: it does not have permission to perform action(s) '${join}' on the linked scope(s) '${theirs.toLowerCase()}' (respectively) or the linked scope(s) are invalid.`,
    ],
    setAside: 'the node',
  },
  'a VM that it may not change': {
    subnets: ['main/pods'],
    roles: [
      { scope: `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/bad`, actions: ['*/read'] },
      { scope: `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/pool`, actions: ['*'] },
    ],
    said: [denied('AccessDenied', `${vms}/write`, update, anyVm)],
    setAside: 'the node',
  },
  'a scale set that it may not read': {
    subnets: ['main/pods'],
    roles: [{ scope: `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/pool`, actions: ['*'] }],
    said: [
      denied(
        'AccessDenied',
        `${vms}/networkInterfaces/read`,
        'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces',
        anyVm,
      ),
    ],
    setAside: 'the node',
  },
};

describe('on Azure, a node with', () => {
  test.each(Object.entries(rows))(
    '%s is served without it, if it can be, says why, and leaves others alone',
    async (_, row) => {
      const world = worldFor(row);
      const { cloud } = world.cluster.arm;
      row.prepare?.(cloud, world);
      const [machine, other] = [world.machine(0), world.machine(1)];
      const controller = startController(
        world,
        row.tamper === undefined ? {} : { tamper: row.tamper(cloud) },
      );
      await world.advance(5 * minute);

      if (row.withoutNode === true) await world.announceAlone(machine, row.patch);
      else await world.announce(machine, row.patch);
      await world.announce(other);
      await world.advance(15 * minute);

      const events = world.events(machine.name).filter((event) => event.startsWith('Node '));
      expect([...new Set(events)].sort()).toEqual(row.said.map((said) => `Node ${said}`).sort());
      expect(world.pool(machine).size).toBe(row.setAside === 'the node' ? 0 : 8);
      if (row.setAside === 'the interface')
        expect(new Set(world.pool(machine).values())).toEqual(new Set([nic0]));
      expect(world.pool(other).size).toBe(8);
      expect(world.events(other.name)).toEqual([]);
      expect(controller.controller.unreadiness()).toBeUndefined();
      expect(world.broken()).toEqual([]);
    },
  );
});

describe('on Azure, a new leader', () => {
  test.each([
    [
      'wrong credentials',
      ['InvalidAuthenticationToken', 401, 'The access token is invalid.'],
      'CredentialsInvalid',
      'check the credentials that Headwater uses',
    ],
    [
      'credentials that have expired',
      ['ExpiredAuthenticationToken', 401, 'The access token expiry UTC time is in the past.'],
      'CredentialsExpired',
      "renew Headwater's credentials, or set its clock",
    ],
    [
      'a wrong subscription',
      [
        'SubscriptionNotFound',
        404,
        "The subscription '00000000-0000-0000-0000-000000000009' could not be found.",
      ],
      'AccessDenied',
      "check that the subscription exists, and that Headwater's identity has a role in it",
    ],
  ] as const)(
    'with %s withdraws nothing, is not ready, and says why in one sentence',
    async (_, refusal, reason, remedy) => {
      const world = worldFor({ said: [], setAside: 'nothing' });
      const [code, status, message] = refusal;
      const { controller, before } = await replaceLeader(world, () =>
        world.fault('*', { kind: 'error', code, status, message }),
      );

      const sentence = `${remedy}: the cloud answers ${code}: ${message}`;
      expect(controller.controller.unreadiness()).toBe(`it cannot read the cloud: ${sentence}`);
      for (const machine of world.machines)
        expect(world.events(machine.name)).toContain(`Node ${reason}: ${sentence}`);
      expect(before.map((pool) => pool.length)).toEqual([8, 8]);
      expect(poolsOf(world)).toEqual(before);
      expect(controller.publications.map(({ body }) => body['spec'])).toEqual(
        world.machines.map(() => undefined),
      );
      expect(controller.warnings().filter((line) => line.startsWith('cannot read')).length).toBeLessThan(5);
      expect(world.broken()).toEqual([]);
    },
  );

  test('that may change no VM at all reports one missing permission, and asks for few of them', async () => {
    const read = { ...everythingOfVms, actions: ['*/read'] };
    const world = new AzureClusterWorld({
      cloud: testAzure({
        principals: principals([everythingOfOthers, read]),
        scaleSets: [scaleSet({ count: 60 })],
        virtualNetworks: networks,
      }),
    });
    const controller = startController(world);
    for (const machine of world.machines) await world.announce(machine);

    await world.advance(15 * minute);

    const updates = controller.calls.filter(({ action }) => action === update).length;
    const events = world.machines.flatMap(({ name }) => world.events(name));
    const said = denied('AccessDenied', `${vms}/write`, update, anyVm.replace('/bad/', '/pool/'));
    expect(controller.controller.status().denied.map(({ permission }) => permission)).toEqual([
      `${vms}/write`,
    ]);
    expect(new Set(events)).toEqual(new Set([`Node ${said}`, `CiliumNode ${said}`]));
    expect(events).toHaveLength(2 * 5);
    // All may ask before the first answer. Then one asks for all, with pauses in between.
    expect(updates).toBeLessThan(60 + 30);
    expect(world.broken()).toEqual([]);
  });
});
