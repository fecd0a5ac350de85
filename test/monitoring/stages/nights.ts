// What goes wrong at night, each in a cluster of its own, and whether it should page.
import { StandInOperator } from '../../support/stand-in-operator.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';
import type { Recorder, Stage } from './stage.ts';

const minute = 60_000;
/** How long each is played, in ms: as long as an alert and the range that it reads need. */
export const nightLength = 20 * minute;

export interface Night extends Stage {
  /** The alert that pages; undefined when none should. */
  readonly paged: string | undefined;
}

interface Cluster {
  readonly world: World;
  readonly controller: WorldController;
}

/** Two nodes, of which each has what it needs before `trouble` starts. */
function served(
  name: string,
  paged: string | undefined,
  trouble: (cluster: Cluster) => Promise<void>,
): Night {
  const play = async (record: Recorder): Promise<void> => {
    const cluster = started();
    for (const machine of cluster.world.machines) await cluster.world.announce(machine);
    await record.advance(cluster.world, [cluster.controller], 2 * minute);
    await trouble(cluster);
    await record.advance(cluster.world, [cluster.controller], nightLength - 2 * minute);
  };
  return { name, paged, play };
}

/** A leader that finds the trouble when it starts. */
function found(name: string, paged: string | undefined, trouble: (world: World) => Promise<void>): Night {
  const play = async (record: Recorder): Promise<void> => {
    const world = newWorld();
    await trouble(world);
    await record.advance(world, [startedIn(world)], nightLength);
  };
  return { name, paged, play };
}

function newWorld(): World {
  return new World({
    cloud: testCloud({ instances: [instance({ count: 2 })] }),
    configure: () => ({ eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } }),
  });
}

function startedIn(world: World): WorldController {
  return startController(world, {
    metered: true,
    flags: { 'cluster-name': 'blue', 'resync-interval': '5m' },
  });
}

function started(): Cluster {
  const world = newWorld();
  return { world, controller: startedIn(world) };
}

/** More pods than the node has addresses for. */
async function morePods({ world }: Pick<Cluster, 'world'>): Promise<void> {
  await world.addPods(world.machine(), { count: 12 });
}

function cloudAnswers(world: World, code: string, status: number): void {
  world.fault('*', { kind: 'error', code, status, message: 'no' });
}

async function announceAll(world: World): Promise<void> {
  for (const machine of world.machines) await world.announce(machine);
}

export const nights: readonly Night[] = [
  served('cloud-down', 'HeadwaterPodsPending', async (cluster) => {
    cloudAnswers(cluster.world, 'InternalError', 500);
    await morePods(cluster);
  }),
  served('credentials-expired', 'HeadwaterPodsPending', async (cluster) => {
    cloudAnswers(cluster.world, 'ExpiredToken', 400);
    await morePods(cluster);
  }),
  served('subnets-full', 'HeadwaterPodsPending', async (cluster) => {
    cluster.world.occupy(ids.pods);
    cluster.world.occupy(ids.morePods);
    await morePods(cluster);
  }),
  served('writes-refused', 'HeadwaterPodsPending', async (cluster) => {
    cluster.world.refuse(403, 'PATCH', /ciliumnodes/);
    await morePods(cluster);
  }),
  served('every-write-fails', 'HeadwaterNoLeader', async (cluster) => {
    for (const method of ['PATCH', 'PUT']) cluster.world.refuse(500, method, /./);
    await morePods(cluster);
  }),
  served('assigning-denied', 'HeadwaterPodsPending', async (cluster) => {
    const denied = { kind: 'error', code: 'UnauthorizedOperation', status: 403, message: 'no' } as const;
    for (const action of ['AssignPrivateIpAddresses', 'CreateNetworkInterface'])
      cluster.world.fault(action, denied);
    await morePods(cluster);
  }),
  served('another-operator', 'HeadwaterConflictingWriter', async (cluster) => {
    void new StandInOperator(cluster.world).run();
    await cluster.world.advance(5000);
    await morePods(cluster);
  }),
  served('one-edit-by-hand', undefined, async ({ world }) => {
    const [address = ''] = world.pool(world.machine()).keys();
    await world.patch(world.machine(), { spec: { ipam: { pool: { [address]: null } } } });
  }),
  served('more-pods-than-the-instance-can-have', undefined, async ({ world }) => {
    await world.addPods(world.machine(), { count: 60 });
  }),
  served('cloud-down-and-no-pod-waits', undefined, ({ world }) => {
    cloudAnswers(world, 'InternalError', 500);
    return Promise.resolve();
  }),
  found('unreadable-cloud', 'HeadwaterNodesUnknown', async (world) => {
    cloudAnswers(world, 'InternalError', 500);
    await announceAll(world);
    await morePods({ world });
  }),
  found('writes-refused-to-a-new-leader', 'HeadwaterPodsPending', async (world) => {
    world.refuse(403, 'PATCH', /ciliumnodes/);
    await announceAll(world);
    await world.addPods(world.machine(), { count: 4 });
  }),
  found('unreadable-cilium-node', 'HeadwaterPodsPending', async (world) => {
    await announceAll(world);
    await world.patch(world.machine(), { spec: { 'instance-id': null } });
    await world.addPods(world.machine(), { count: 4 });
  }),
];
