// What EC2 may show and pods cannot use causes no warning.
import { expect, test } from '@jest/globals';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

/** An EFA without IP on a network card of the instance. */
function efaOnly(
  instanceId: string,
  card: number,
): { readonly Attachment: object; readonly [field: string]: unknown } {
  const id = `eni-0000000000000e${String(card).padStart(3, '0')}`;
  return {
    NetworkInterfaceId: id,
    InterfaceType: 'efa-only',
    Status: 'in-use',
    VpcId: ids.vpc,
    SubnetId: ids.nodes,
    AvailabilityZone: 'us-east-1a',
    MacAddress: `02:00:00:00:ef:${card.toString(16).padStart(2, '0')}`,
    RequesterManaged: false,
    Description: '',
    Groups: [],
    TagSet: [],
    PrivateIpAddresses: [],
    Attachment: {
      AttachmentId: id.replace('eni-', 'eni-attach-'),
      InstanceId: instanceId,
      DeviceIndex: card === 0 ? 2 : 1,
      NetworkCardIndex: card,
      Status: 'attached',
      DeleteOnTermination: true,
    },
  };
}

const ofIpv6 = {
  SubnetId: 'subnet-00000000000000006',
  VpcId: ids.vpc,
  AvailabilityZone: 'us-east-1a',
  AvailableIpAddressCount: 0,
  Ipv6Native: true,
  State: 'available',
  Tags: [],
};

test('a controller logs nothing about 32 EFAs without IP, a detached attachment and an IPv6-native subnet, and counts their slots', async () => {
  const world = new World({
    cloud: testCloud({ instances: [instance()] }),
    configure: () => ({ ipam: { minAllocate: 27 } }),
  });
  const machine = world.machine();
  const { instanceId } = machine;
  const efas = Array.from({ length: 32 }, (_, card) => efaOnly(instanceId, card));
  const gone = { ...efaOnly(instanceId, 40), InterfaceType: 'interface', Status: 'available' };
  const attachment = { ...gone.Attachment, Status: 'detached' };
  const controller = startController(world, {
    flags: { 'resync-interval': '60s' },
    tamper: (_, output) => {
      const { NetworkInterfaces: interfaces, Subnets: shown } = output as Record<string, object[]>;
      if (shown !== undefined) return { ...output, Subnets: [...shown, ofIpv6] };
      if (interfaces === undefined) return output;
      return { ...output, NetworkInterfaces: [...interfaces, ...efas, { ...gone, Attachment: attachment }] };
    },
  });

  await world.announce(machine);
  await world.advance(600_000);

  // The first card of the instance has three slots, and an EFA takes one.
  expect(world.interfaces(machine)).toHaveLength(2);
  expect(world.pool(machine).size).toBe(18);
  expect(controller.logged.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([
    expect.objectContaining({ details: expect.objectContaining({ reason: 'NoInterfaceSlots' }) as unknown }),
  ]);
  expect(world.events(machine.name).filter((text) => !text.includes(' NoInterfaceSlots: '))).toEqual([]);
  expect(await controller.metric('headwater_interfaces{state="unreadable"}')).toBe(0);
  expect(world.broken()).toEqual([]);
});
