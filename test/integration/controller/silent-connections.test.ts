// Connections to the API server that live for TCP and are dead: a relay acknowledges everything and passes nothing on.
import { afterEach, describe, expect, test } from '@jest/globals';
import { objectAt } from '../../../src/simulator/workload/json.ts';
import { fastReleaseFlags as flags } from '../../support/fast-release-flags.ts';
import { HttpCluster } from '../../support/http-cluster.ts';
import { type SilentRelay, type SilentWay, startSilentRelay } from '../../support/silent-relay.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';

let world: HttpCluster;
let relay: SilentRelay;

afterEach(async () => {
  await world.end();
  await relay.close();
});

async function start(): Promise<void> {
  world = new HttpCluster({
    cloud: testCloud({ instances: [instance({ type: 'm5.large', count: 2 })] }),
    configure: () => ({ ipam: { preAllocate: 3 } }),
    flags,
    pace: 10,
    through: async (url) => {
      relay = await startSilentRelay(url);
      return relay.url;
    },
  });
  await world.start();
  await join(0);
}

/** Adds a node, and waits until it has addresses. */
async function join(index: number): Promise<void> {
  const machine = world.machines[index];
  if (machine === undefined) throw new RangeError(`there is no machine ${index}`);
  await world.cluster.workload.addNode(machine);
  await world.until(`${machine.name} has addresses`, () => offeredTo(machine.name) >= 3);
}

function offeredTo(name: string): number {
  const node = world.cluster.kubernetes.get('ciliumnodes.cilium.io', name);
  return Object.keys(objectAt(node, 'spec', 'ipam', 'pool') ?? {}).length;
}

describe('a controller whose connections to the API server fall silent', () => {
  test.each<[SilentWay]>([['both'], ['toServer'], ['fromServer']])(
    'serves a new node over new ones, without a restart (silent: %s)',
    async (way) => {
      await start();

      const silenced = relay.silence(way);
      await join(1);

      expect(silenced).toBeGreaterThanOrEqual(3);
      expect(world.controller?.state).toBe('leading');
      expect(world.bugs).toEqual([]);
    },
  );
});
