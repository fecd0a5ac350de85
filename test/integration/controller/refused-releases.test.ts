// One address that a cloud refuses to take for good, on each cloud, among others of its interface.
import { expect, test } from '@jest/globals';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import { listAt, objectAt, textAt, textMapAt } from '../../../src/simulator/workload/json.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const minute = 60_000;
const unassign = 'UnassignPrivateIpAddresses';
const update = 'VirtualMachineScaleSetVMs.Update';
const refusal: Fault = { kind: 'error', code: 'InvalidParameterValue', status: 400, message: 'it is kept' };

interface Kept {
  readonly world: AlibabaWorld | AzureClusterWorld | World;
  /** From now on the cloud refuses every call that would take the address. */
  readonly keep: (address: string) => void;
}

const protocols = ['crd-allocator', 'multi-pool'] as const;
type Protocol = (typeof protocols)[number];

function onAws(protocol: Protocol): Kept {
  const world = new World({
    cloud: testCloud({ instances: [instance()] }),
    configure: () => ({ protocol }),
  });
  const { faults } = world.cluster.ec2.gateway;
  const keep = (address: string): void => {
    faults.add({ action: unassign, rate: 1, match: { PrivateIpAddresses: address }, fault: refusal });
  };
  return { world, keep };
}

function onAlibaba(protocol: Protocol): Kept {
  const world = new AlibabaWorld({ configure: () => ({ protocol }) });
  const { faults } = world.cluster.alibaba.gateway;
  const keep = (address: string): void => {
    faults.add({ action: unassign, rate: 1, match: { PrivateIpAddress: address }, fault: refusal });
  };
  return { world, keep };
}

function onAzure(protocol: Protocol, fault: Fault): Kept {
  const world = new AzureClusterWorld({ configure: () => ({ protocol }) });
  const { cloud, gateway } = world.cluster.arm;
  const judge = gateway.onCall;
  const keep = (address: string): void => {
    const found = cloud
      .interfacesOf(cloud.machine(world.machine().instanceId))
      .flatMap(({ configurations }) => configurations)
      .find((each) => each.address === address);
    gateway.onCall = (call) => {
      judge?.(call);
      if (call.name !== update) return;
      const profile = objectAt(call.body, 'properties', 'networkProfileConfiguration');
      const wanted = listAt(profile, 'networkInterfaceConfigurations')
        .flatMap((each) => listAt(each, 'properties', 'ipConfigurations'))
        .map((each) => textAt(each, 'name'));
      if (!wanted.includes(found?.name ?? ''))
        gateway.faults.add({ action: update, rate: 1, count: 1, match: {}, fault });
    };
  };
  return { world, keep };
}

const clouds: readonly [string, string, (protocol: Protocol) => Kept][] = [
  ['AWS', 'aws', onAws],
  ['Alibaba Cloud', 'alibaba-cloud', onAlibaba],
  ['Azure', 'azure', (protocol) => onAzure(protocol, refusal)],
  [
    'Azure, once it accepted the change',
    'azure',
    (protocol) =>
      onAzure(protocol, { kind: 'failed', code: 'InternalOperationError', message: 'it is kept' }),
  ],
];
// Agents on Alibaba Cloud know one protocol.
const rows = clouds.flatMap(([cloud, name, begin]) =>
  protocols
    .filter((protocol) => name !== 'alibaba-cloud' || protocol === 'crd-allocator')
    .map((protocol) => ({ cloud, name, protocol, begin })),
);

test.each(rows)('one address that $cloud keeps for good keeps no other: $protocol', async (row) => {
  const { name, protocol, begin } = row;
  const { world, keep } = begin(protocol);
  const flags = { [`${name}-release-excess-ips`]: 'true', 'excess-ip-release-delay': '20s' };
  const { logged } = startController(world, { flags });
  await world.startAgents();
  await world.advance(minute);
  world.addLivingPods(12);
  await world.advance(5 * minute);
  const machine = world.machine();
  const before = [...world.held(machine)];
  await world.deleteLivingPods(12);
  const leaving = (): readonly string[] => {
    const asked = textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips');
    return before.filter((address) => !world.pool(machine).has(address) || asked.has(address));
  };
  await world.until('addresses leave', () => leaving().length > 1, 10 * minute);
  const [kept = ''] = leaving();
  keep(kept);

  await world.advance(30 * minute);
  const first = [...world.held(machine)];
  world.addLivingPods(12, 'later');
  await world.advance(5 * minute);
  await world.deleteLivingPods(12, 'later');
  await world.advance(30 * minute);
  const second = [...world.held(machine)];
  // It is hidden while it is tried again.
  await world.until('it is offered', () => world.pool(machine).has(kept), 5 * minute);

  for (const held of [first, second]) {
    expect(held).toContain(kept);
    // An agent that is not asked may have dropped it, and then holds what it needs beside it.
    expect([0, 1]).toContain(held.length - world.used().length - 8);
  }
  const told = logged.filter(
    ({ message, details }) =>
      message === 'could not release addresses' && details?.['failure'] !== 'conflict',
  );
  expect(told.map(({ details }) => details?.['holding'])).toContain(kept);
  expect(told.length).toBeLessThan(20);
  expect(world.broken()).toEqual([]);
});
