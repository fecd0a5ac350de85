// Knowledge about an instance outlives its reconciler: the next CiliumNode of the instance, or the same one served again,
// must not be offered what is being released, nor lose what only it shows.
import { describe, expect, test } from '@jest/globals';
import { AttackedWorld } from '../../support/attacked-world.ts';
import { BusyWorld } from '../../support/busy-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { withPrimariesOnly } from '../../support/torn-answers.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const unassign = 'UnassignPrivateIpAddresses';
const ignore = 'ipam.cilium.io/ignore';

describe.each(['crd-allocator', 'multi-pool'] as const)(
  'addresses that a lost call may still take (%s)',
  (protocol) => {
    test.each(['is ignored for a moment', 'is deleted and made again'])(
      'are used by no pod when the CiliumNode %s meanwhile',
      async (what) => {
        const world = await BusyWorld.start({
          cloud: testCloud({ instances: [instance()] }),
          configure: () => ({ protocol }),
          setup: { flags: { 'aws-release-excess-ips': 'true' } },
          pods: 15,
        });
        const machine = world.machine();
        const end = world.fault(
          unassign,
          { kind: 'lost', effect: 'late', connection: 'hang', delayMs: 25_000 },
          1,
        );
        await world.deleteLivingPods(12);
        await world.until('a call hangs', () => world.callsOf(unassign).length > 0, 900_000);

        if (what === 'is ignored for a moment') {
          await world.patch(machine, { metadata: { annotations: { [ignore]: 'true' } } });
          await world.advance(1000);
          await world.patch(machine, { metadata: { annotations: { [ignore]: null } } });
        } else {
          await world.delete(machine);
          await world.advance(1000);
          void world.cluster.workload.restartAgent(machine.name);
        }
        world.addLivingPods(22, 'more');
        await world.advance(100_000);
        end();

        expect(world.broken()).toEqual([]);
      },
    );
  },
);

describe('an instance that was served for a CiliumNode without a Node', () => {
  test('keeps what the CiliumNode of its own Node shows once that Node is back, although the cloud’s answer is torn', async () => {
    const world = new World({
      cloud: testCloud({ instances: [instance({ count: 4 })] }),
      configure: () => ({ ipam: { preAllocate: 12 } }),
    });
    const machine = world.machine();
    await world.announceAlone({ ...machine, name: 'a-fake' });
    await world.advance(1000);
    const first = startController(world);
    for (const each of world.machines) await world.announce(each);
    await world.advance(60_000);
    await world.use(machine, 12);
    await world.advance(120_000);
    first.stop();
    await world.advance(30_000);
    const before = world.pool(machine);
    await world.call('DELETE', `/api/v1/nodes/${machine.name}`);
    await world.patch(
      { name: 'a-fake' },
      { spec: { ipam: { pool: { '10.0.0.250': { resource: 'eni-1' } } } } },
    );

    const next = startController(world, {
      identity: 'headwater-1',
      tamper: (_, output) => withPrimariesOnly(output),
    });
    await world.advance(60_000);
    const served = next.controller.status().unverified;
    await world.register(machine);
    await world.advance(120_000);

    expect(served).toEqual({ count: 1, nodes: ['a-fake'] });
    expect(before.size).toBeGreaterThan(12);
    expect(world.pool(machine)).toEqual(before);
    expect(world.bugs).toEqual([]);
  });

  test('shows nothing that the former CiliumNode made up once its own node joins, and blocks no other node', async () => {
    const attacked = await AttackedWorld.start({ strangers: 5 });
    const { world } = attacked;
    const strangers = world.machines.slice(3);
    await attacked.restart(async () => {
      for (const [index, stranger] of strangers.entries()) {
        const { id = '', primaryAddress: ip = '', subnetId = '' } = world.interfaces(stranger)[1] ?? {};
        const addresses = Array.from({ length: 250 }, (_, each) => `10.0.0.${each + 4}`);
        const subnet = { id: subnetId, cidr: '10.0.0.0/24' };
        const vpc = { id: stranger.vpcId, 'primary-cidr': '10.0.0.0/16' };
        const shown = { id, ip, mac: '02:00:00:00:00:01', number: 1, subnet, vpc, addresses };
        const pool = Object.fromEntries(addresses.map((address) => [address, { resource: id }]));
        await attacked.write(
          `a-fake-${index}`,
          stranger,
          { ipam: { pool } },
          { eni: { enis: { [id]: shown } } },
        );
      }
    });
    await world.advance(120_000);

    for (const stranger of strangers) void world.cluster.workload.addNode(stranger);
    await world.advance(10_000);
    const sizes = strangers.map((stranger) => world.pool(stranger).size);
    for (const { name } of strangers)
      for (let index = 0; index < 10; index++)
        void world.cluster.workload.createPod({ name: `${name}-pod-${index}`, nodeName: name });
    await world.advance(20_000);
    const waiting = world.waiting();
    await world.advance(200_000);

    expect(sizes).toEqual(strangers.map(() => 6));
    expect(waiting).toEqual([]);
    expect(world.controller.controller.status().withdrawalsHeld).toBeUndefined();
    expect(attacked.harm()).toEqual([]);
  });
});
