// The process is killed at every call that changes anything, in turn and in three ways, while a node grows and shrinks;
// another takes over, and whatever happened, nothing is lost, doubled or left over.
import { describe, expect, test } from '@jest/globals';
import type { Protocol } from '../../../src/simulator/workload/node-facts.ts';
import { textMapAt } from '../../../src/simulator/workload/json.ts';
import { BusyWorld } from '../../support/busy-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import type { Death } from '../../support/world-controller.ts';

const flags = {
  'cluster-name': 'kill-points',
  'aws-release-excess-ips': 'true',
  'excess-ip-release-delay': '20s',
  'release-hidden-time': '75s',
  'idle-interface-delay': '60s',
  'eni-gc-interval': '60s',
  'leader-election-retry-period': '8s',
};

/** Pods come, most of them go, some come again. */
async function history(protocol: Protocol, death?: Omit<Death, 'onDeath'>): Promise<BusyWorld> {
  const onDeath = (): void => {
    world.clock.schedule(1, () => void world.takeOver({ flags }));
  };
  const world = new BusyWorld({
    cloud: testCloud({ instances: [instance()] }),
    configure: () => ({ protocol }),
    setup: { flags, ...(death !== undefined && { death: { ...death, onDeath } }) },
  });
  const started = world.cluster.workload.start();
  await world.advance(1);
  await started;
  await world.advance(50_000);
  world.addLivingPods(12);
  await world.advance(80_000);
  await world.deleteLivingPods(12);
  await world.advance(400_000);
  world.addLivingPods(3, 'later');
  await world.advance(300_000);
  return world;
}

function expectWell(world: BusyWorld): void {
  const machine = world.machine();
  expect(world.held(machine)).toHaveLength(world.used().length + 8);
  expect([...world.pool(machine).keys()].sort()).toEqual([...world.held(machine)].sort());
  expect(textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips')).toEqual(new Map());
  expect(Object.keys(world.enis(machine))).toHaveLength(world.interfaces(machine).length);
  expect(world.waiting()).toEqual([]);
  expect(world.loose()).toEqual([]);
  expect(world.broken()).toEqual([]);
}

const ways = ['before it is sent', 'once it is sent', 'before its answer is taken in'] as const;

for (const protocol of ['crd-allocator', 'multi-pool'] as const) {
  const undisturbed = await history(protocol);
  const begun = [...undisturbed.controller.begun];

  describe(`beside an agent of ${protocol}`, () => {
    test('the history that is cut short has every kind of call in it', () => {
      expect([...new Set(begun)].sort()).toEqual([
        'AssignPrivateIpAddresses',
        'AttachNetworkInterface',
        'CreateNetworkInterface',
        'DeleteNetworkInterface',
        'DetachNetworkInterface',
        'ModifyNetworkInterfaceAttribute',
        'UnassignPrivateIpAddresses',
        'patch spec',
        'patch status',
      ]);
      expectWell(undisturbed);
    });

    describe.each(ways)('a process that dies %s', (when) => {
      test.each(begun.map((name, at) => ({ name, at })))('at call $at, $name', async ({ at }) => {
        const world = await history(protocol, { at, when });

        expect(world.controller.controller.state).toBe('leading');
        expectWell(world);
      });
    });
  });
}
