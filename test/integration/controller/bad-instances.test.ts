// Instances whose changes the cloud refuses, beside others whose changes it carries out.
import { describe, expect, test } from '@jest/globals';
import { descriptionPrefix } from '../../../src/providers/orphans/ownership-tags.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

/** Machine 0 is served first, 1 and 2 are refused everything, and 3 to 5 join then. */
const bad: readonly number[] = [1, 2];
const count = 6;

const configure = (index: number): { ipam: object } => ({
  ipam: bad.includes(index) ? { minAllocate: 25 } : {},
});

interface Row {
  readonly cloud: string;
  readonly action: string;
  readonly world: () => ClusterWorld;
  /** The parameters by which the call of a machine is known. */
  readonly match: (world: ClusterWorld, index: number) => Readonly<Record<string, string>>;
  /** How long a node may wait for addresses, in ms. */
  readonly within: number;
}

const ofInstance: Row['match'] = (world, index) => ({ InstanceId: world.machine(index).instanceId });

const ofInterface: Row['match'] = (world, index) => ({
  NetworkInterfaceId: world.interfaces(world.machine(index)).at(-1)?.id ?? '',
});

const created: Row['match'] = (world, index) => ({
  Description: `${descriptionPrefix}${world.machine(index).instanceId})`,
});

/** They have no slot for another interface. */
const taken = [1, 2].map((deviceIndex) => ({ deviceIndex, requesterManaged: true }));

const rows: readonly Row[] = [
  {
    cloud: 'Azure',
    action: 'VirtualMachineScaleSetVMs.Update',
    world: () =>
      new AzureClusterWorld({
        configure: (index) => ({ ipam: bad.includes(index) ? { minAllocate: 100 } : {} }),
        cloud: testAzure({ scaleSets: [scaleSet({ count })] }),
      }),
    within: 120_000,
    match: (world, index) => ({ path: world.machine(index).instanceId.toLowerCase() }),
  },
  {
    cloud: 'AWS',
    action: 'AssignPrivateIpAddresses',
    world: () =>
      new World({ configure, cloud: testCloud({ instances: [instance({ count, interfaces: taken })] }) }),
    within: 20_000,
    match: (world, index) => ({
      NetworkInterfaceId: world.interfaces(world.machine(index))[0]?.id ?? '',
    }),
  },
  {
    cloud: 'AWS',
    action: 'AttachNetworkInterface',
    world: () =>
      new World({
        configure: (index) => ({ ...configure(index), eni: { firstInterfaceIndex: 1 } }),
        cloud: testCloud({ instances: [instance({ count })] }),
      }),
    within: 20_000,
    match: ofInstance,
  },
  {
    cloud: 'AWS',
    action: 'CreateNetworkInterface',
    world: () =>
      new World({
        configure: (index) => ({ ...configure(index), eni: { firstInterfaceIndex: 1 } }),
        cloud: testCloud({ instances: [instance({ count })] }),
      }),
    within: 20_000,
    match: created,
  },
  {
    cloud: 'Alibaba Cloud',
    action: 'CreateNetworkInterface',
    world: () => new AlibabaWorld({ configure, cloud: testAlibaba({ instances: [ecsInstance({ count })] }) }),
    within: 20_000,
    match: created,
  },
  {
    cloud: 'Alibaba Cloud',
    action: 'AttachNetworkInterface',
    world: () => new AlibabaWorld({ configure, cloud: testAlibaba({ instances: [ecsInstance({ count })] }) }),
    within: 20_000,
    match: ofInstance,
  },
  {
    cloud: 'Alibaba Cloud',
    action: 'AssignPrivateIpAddresses',
    world: () =>
      new AlibabaWorld({
        configure: (index) => ({ ipam: bad.includes(index) ? { minAllocate: 45 } : {} }),
        cloud: testAlibaba({
          instances: [ecsInstance({ count, interfaces: [1, 2, 3].map(() => ({ addresses: 2 })) })],
        }),
      }),
    within: 20_000,
    match: ofInterface,
  },
];

const codes = ['InvalidParameterValue', 'InvalidParameter', 'SomethingNew'];

describe.each(rows)(
  'on $cloud, two instances that are refused $action',
  ({ world: worldOf, action, match, within }) => {
    test.each(codes)(
      'keep nobody else from what they need, and nobody else tells of it (%s)',
      async (code) => {
        const world = worldOf();
        const controller = startController(world);
        await world.announce(world.machine(0));
        await world.until('the first node is served', () => world.pool(world.machine(0)).size >= 8);
        for (const index of bad) {
          const message = `refused to machine ${index}`;
          world.fault(action, { kind: 'error', code, status: 400, message }, undefined, match(world, index));
        }
        for (const index of bad) await world.announce(world.machine(index));
        await world.advance(60_000);

        const joining = [3, 4, 5].map((index) => world.machine(index));
        for (const machine of joining) await world.announce(machine);
        await world.until(
          'they are served',
          () => joining.every((each) => world.pool(each).size >= 8),
          within,
        );
        // More is needed later, while the others are still refused.
        await world.advance(300_000);
        const since = world.clock.monotonic();
        for (const machine of joining) await world.patch(machine, { spec: { ipam: { 'min-allocate': 9 } } });
        await world.until('they grow', () => joining.every((each) => world.pool(each).size >= 9), within);
        await world.advance(300_000);

        const told = joining.flatMap(({ name }) => world.events(name));
        expect(told.filter((event) => event.includes(code))).toEqual([]);
        expect(bad.map((index) => world.operatorError(world.machine(index)))).toEqual(
          bad.map((index) => expect.stringContaining(`refused to machine ${index}`)),
        );
        const refused = controller.changes.filter(({ at, result }) => at >= since && result === code);
        expect(refused.length).toBeLessThan(40);
        expect(world.broken()).toEqual([]);
      },
    );
  },
);

describe('on Azure, two instances that a policy forbids to change', () => {
  test('keep nobody else from what they need, although nobody was served before', async () => {
    const action = 'VirtualMachineScaleSetVMs.Update';
    const world = new AzureClusterWorld({ cloud: testAzure({ scaleSets: [scaleSet({ count })] }) });
    const controller = startController(world);
    const message = "Resource was disallowed by policy 'no-changes'.";
    const fault = { kind: 'error', code: 'RequestDisallowedByPolicy', status: 403, message } as const;
    for (const index of bad)
      world.fault(action, fault, undefined, { path: world.machine(index).instanceId.toLowerCase() });
    for (const index of bad) await world.announce(world.machine(index));
    await world.advance(60_000);

    const joining = [3, 4, 5].map((index) => world.machine(index));
    for (const machine of joining) await world.announce(machine);
    await world.advance(5000);
    const sent = controller.calls.filter((call) => call.action === action && call.result === 'OK');
    await world.until('they are served', () => joining.every((each) => world.pool(each).size >= 8));

    expect(sent).toHaveLength(3);
    expect(joining.flatMap(({ name }) => world.events(name))).toEqual([]);
    expect(world.operatorError(world.machine(1))).toContain('change the policy');
    expect(world.broken()).toEqual([]);
  });
});
