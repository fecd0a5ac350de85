// What only a CiliumNode shows of an instance: nothing is taken away because of it, and no node waits for it.
import { expect, test } from '@jest/globals';
import { createInterface } from '../../../src/simulator/cloud/network-interfaces.ts';
import { plainInterface } from '../../../src/simulator/cloud/instances.ts';
import { AttackedWorld } from '../../support/attacked-world.ts';
import { ids } from '../../support/test-cloud.ts';

test.each(['detached', 'attached'])(
  'an interface of another owner stays as it is when an agent shows it as its own, empty one (%s)',
  async (kind) => {
    const attacked = await AttackedWorld.start({ flags: { 'idle-interface-delay': '2s' } });
    const { world } = attacked;
    const liar = attacked.victim(2);
    const made = createInterface(world.cluster.ec2.network, plainInterface(ids.nodes, []));
    const other = kind === 'detached' ? made : world.interfaces(attacked.stranger)[1];
    const { id = '', primaryAddress: ip = '' } = other ?? {};
    const eni = {
      id,
      ip,
      mac: '02:00:00:00:00:01',
      number: 2,
      description: `Cilium-CNI (${liar.instanceId})`,
      subnet: { id: ids.nodes, cidr: '10.0.0.0/24' },
      vpc: { id: liar.vpcId, 'primary-cidr': '10.0.0.0/16' },
    };
    // An answer without the interface would end it, too.
    world.fault('DetachNetworkInterface', { kind: 'lost', effect: 'after', connection: 'drop', delayMs: 0 });

    await attacked.restart(() =>
      world.patchStatus(liar, { eni: { enis: { [id]: eni } } }).then(() => undefined),
    );
    await world.advance(600_000);

    const taken = attacked.removals.filter(({ action }) => !action.startsWith('Unassign'));
    expect(taken).toEqual([]);
    expect(world.cluster.ec2.network.interfaces.get(id)?.instanceId).toBe(other?.instanceId);
    expect(world.enis(liar)).not.toHaveProperty(id);
    expect(attacked.harm(liar)).toEqual([]);
  },
);

test('addresses that only the pool of a served CiliumNode names are available to other nodes after a change of leader', async () => {
  const attacked = await AttackedWorld.start();
  const { world } = attacked;
  const liar = attacked.victim(2);
  const own = new Set(world.held(liar));
  const block = Array.from({ length: 250 }, (_, index) => `10.0.0.${index + 4}`).filter(
    (each) => !own.has(each),
  );
  const pool = Object.fromEntries(block.map((address) => [address, { resource: 'eni-00000000000000009' }]));

  await attacked.restart(() => world.patch(liar, { spec: { ipam: { pool } } }).then(() => undefined));
  await attacked.grow(8);
  void world.cluster.workload.addNode({ ...attacked.stranger });
  await world.advance(60_000);

  expect(attacked.harm(liar)).toEqual([]);
  expect(world.pool(attacked.stranger).size).toBeGreaterThanOrEqual(6);
  expect(world.controller.controller.status().withdrawalsHeld).toBeUndefined();
});
