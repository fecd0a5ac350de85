// A cilium-operator begins beside a leader, and serves one node. Whether any node wants anything after that is no matter: the
// leader has stopped within 15 s.
import { describe, expect, test } from '@jest/globals';
import {
  alibabaCloud,
  azureCloud,
  eniCloud,
  type OperatorCloud,
  StandInOperator,
} from '../../support/stand-in-operator.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { otherPrincipal, scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { bothWrote, longestBothWrite } from '../../support/both-writers.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

interface Scene {
  readonly world: ClusterWorld;
  readonly cloud: OperatorCloud;
}

const configure = (): { readonly protocol: 'multi-pool' } => ({ protocol: 'multi-pool' });

const scenes: Readonly<Record<string, () => Scene>> = {
  eni: () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 3 })] }), configure });
    return { world, cloud: eniCloud(world.cluster.ec2.network) };
  },
  azure: () => {
    const world = new AzureClusterWorld({
      cloud: testAzure({ scaleSets: [scaleSet({ count: 3 })] }),
      configure,
    });
    return { world, cloud: azureCloud(world.cluster.arm, otherPrincipal) };
  },
  alibabacloud: () => {
    const instances = [ecsInstance({ count: 3 })];
    const world = new AlibabaWorld({ cloud: testAlibaba({ instances }), configure });
    return { world, cloud: alibabaCloud(world.cluster.alibaba.network) };
  },
};

const isRead = (action: string): boolean => /^(?:\w+\.)?(?:Describe|Get|List)/.test(action);

async function leading(world: ClusterWorld): Promise<WorldController> {
  const controller = startController(world);
  for (const machine of world.machines) await world.announce(machine);
  await world.until('all are served', () => world.machines.every((each) => world.pool(each).size >= 8));
  await world.advance(60_000);
  return controller;
}

/** The operator serves one node, which wants more; for how long both write then. */
async function afterOne({ world, cloud }: Scene, controller: WorldController): Promise<number> {
  const { clock, cluster } = world;
  const surroundings = { clock, cluster: { kubernetes: cluster.kubernetes, ec2: cluster } };
  const operator = new StandInOperator(surroundings, {
    cloud,
    supplies: true,
    program: 'cilium-operator',
  });
  const want = (index: number, more: number): Promise<void> => {
    const machine = world.machine(index);
    return world.request(machine, world.pool(machine).size + more);
  };
  await want(1, 4);
  void operator.run(300);
  await world.until('the operator writes', () => operator.writes.length > 0, 10_000);
  return bothWrote(
    {
      clock,
      hasStopped: () =>
        controller.controller
          .status()
          .paused.some(
            ({ reason, activities }) => reason === 'conflictingWriter' && activities.includes('allocation'),
          ),
      changes: () =>
        [...controller.publications, ...controller.calls.filter(({ action }) => !isRead(action))].map(
          ({ at }) => at,
        ),
      want: () => {
        operator.stop();
        return want(2, 2);
      },
    },
    operator.writes[0] ?? Number.NaN,
  );
}

describe.each(Object.entries(scenes))('beside a cilium-operator in the mode %s', (_, open) => {
  test('stops within 15 s of its first write, although no node wants anything any more', async () => {
    const scene = open();
    const controller = await leading(scene.world);

    expect(await afterOne(scene, controller)).toBeLessThan(longestBothWrite);
    expect(scene.world.broken()).toEqual([]);
  });

  test('stops under a new leader too, as soon as that leads', async () => {
    const scene = open();
    const { world } = scene;
    (await leading(world)).kill();
    const next = startController(world, { identity: 'headwater-1' });
    await world.until('the next one leads', () => next.controller.status().state === 'leading');

    expect(await afterOne(scene, next)).toBeLessThan(longestBothWrite);
    expect(world.broken()).toEqual([]);
  });
});
