import { describe, expect, test } from '@jest/globals';
import type { Protocol } from '../../../src/simulator/workload/node-facts.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const minute = 60_000;
const flags = {
  'aws-release-excess-ips': 'true',
  'azure-release-excess-ips': 'true',
  'alibaba-cloud-release-excess-ips': 'true',
  'excess-ip-release-delay': '10s',
  'release-quarantine': '20s',
};

interface Configured {
  readonly configure: () => { readonly protocol: Protocol };
}

const clouds: readonly [string, Protocol, (options: Configured) => ClusterWorld][] = [
  ['AWS', 'crd-allocator', (options) => new World(options)],
  ['AWS', 'multi-pool', (options) => new World(options)],
  ['Azure', 'crd-allocator', (options) => new AzureClusterWorld(options)],
  ['Azure', 'multi-pool', (options) => new AzureClusterWorld(options)],
  ['Alibaba Cloud', 'crd-allocator', (options) => new AlibabaWorld(options)],
];

/** A node with 12 running pods, all of which its agent forgot. */
async function forgetfulNode(
  create: (options: Configured) => ClusterWorld,
  protocol: Protocol,
  given: Readonly<Record<string, string>> = {},
): Promise<{ world: ClusterWorld; controller: WorldController; forgotten: readonly string[] }> {
  const world = create({ configure: () => ({ protocol }) });
  const own = Object.fromEntries(Object.entries(flags).filter(([name]) => isOf(world, name)));
  const controller = startController(world, { flags: { ...own, ...given } });
  await world.startAgents();
  world.addLivingPods(12);
  await world.advance(8 * minute);
  const agent = world.cluster.workload.machineOf(world.machine().name)?.agent;
  const pods = [...(agent?.addressesInUse() ?? [])].filter(([, owner]) => owner.includes('/'));
  for (const [, owner] of pods) agent?.remove(owner);
  return { world, controller, forgotten: pods.map(([address]) => address) };
}

/** Options of releases belong to one cloud. */
function isOf({ flags: own }: ClusterWorld, name: string): boolean {
  const cloud = /^(aws|azure|alibaba-cloud)-/.exec(name)?.[1];
  const mode = (own as { ipam?: string }).ipam ?? 'eni';
  return (
    cloud === undefined || { aws: 'eni', azure: 'azure', 'alibaba-cloud': 'alibabacloud' }[cloud] === mode
  );
}

function warned({ logged }: WorldController, reason: string): readonly string[] {
  return logged.map((line) => JSON.stringify(line)).filter((text) => text.includes(reason));
}

describe.each(clouds)('on %s, what an agent of %s gives up', (_, protocol, create) => {
  test('stays while running pods show it, and goes once they are gone', async () => {
    const { world, controller, forgotten } = await forgetfulNode(create, protocol);
    const machine = world.machine();

    await world.advance(20 * minute);
    const kept = { held: [...world.held(machine)], pool: [...world.pool(machine).keys()] };
    const struck = controller.publications.filter(({ body }) =>
      forgotten.some((address) => JSON.stringify(body['spec'] ?? {}).includes(`"${address}":null`)),
    );
    await world.deleteLivingPods(12);
    await world.advance(20 * minute);

    expect(forgotten).toHaveLength(12);
    expect(kept.held).toEqual(expect.arrayContaining([...forgotten]));
    expect(kept.pool).toEqual(expect.arrayContaining([...forgotten]));
    expect(struck).toEqual([]);
    const [told = ''] = warned(controller, 'ReleasedAddressesInUse');
    expect(told).toMatch(/pod default\/\S+ has 10\.\d+\.\d+\.\d+/);
    expect(world.held(machine).length).toBeLessThan(forgotten.length);
    expect(world.bugs).toEqual([]);
  });

  test('goes, whatever pods show, where the word of the agent is enough', async () => {
    const { world, forgotten } = await forgetfulNode(create, protocol, { 'release-pod-check': 'false' });

    await world.advance(20 * minute);

    const held = world.held(world.machine());
    expect(forgotten.filter((address) => !held.includes(address))).not.toEqual([]);
  });

  test('stays while pods cannot be read, which the node says once, and goes afterwards', async () => {
    const { world, controller } = await forgetfulNode(create, protocol);
    await world.deleteLivingPods(12);
    const end = world.refuse(403, 'GET', /^\/api\/v1\/pods/);
    const before = world.held(world.machine()).length;

    await world.advance(30 * minute);
    const kept = { held: world.held(world.machine()).length, pool: world.pool(world.machine()).size };
    end();
    await world.advance(30 * minute);

    expect(kept).toEqual({ held: before, pool: before });
    const texts = warned(controller, 'PodsUnreadable');
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(/list on pods.*release-pod-check/);
    expect(world.held(world.machine()).length).toBeLessThan(before);
  });
});
