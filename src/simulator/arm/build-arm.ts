// Builds an Azure from a topology. Everything it names exists from the start, running and with its addresses.
import type { Random } from '../../runtime/random.ts';
import type { PacedClock } from '../cloud/paced-clock.ts';
import { ArmCloud } from './arm-cloud.ts';
import type { ScaleSet } from './arm-records.ts';
import type { ArmTopology } from './arm-topology-schema.ts';
import { addInstance, addMachine } from './new-machines.ts';
import { groupPath, keyOf, machinePath, networkPath, scaleSetPath } from './resource-path.ts';

/** Builds a validated topology. Refuses what does not fit, as Azure would (too few addresses in a subnet). */
export function buildArm(options: {
  readonly topology: ArmTopology;
  readonly clock: PacedClock;
  readonly random: Random;
}): ArmCloud {
  const cloud = new ArmCloud(options);
  const { topology } = options;
  for (const { id, groups } of topology.subscriptions) {
    const named = groups.map((name) => [keyOf(groupPath(id, name)), name] as const);
    cloud.subscriptions.set(id.toLowerCase(), new Map(named));
  }
  addNetworks(cloud, topology);
  addPrefixes(cloud, topology);
  for (const plan of topology.scaleSets) addScaleSet(cloud, topology, plan);
  for (const plan of topology.machines) {
    const group = groupFor(topology, plan);
    for (let made = 0; made < plan.count; made++) {
      const name = plan.count === 1 ? plan.name : `${plan.name}-${made}`;
      addMachine(cloud, { plan, group, name, path: machinePath(group, name) });
    }
  }
  cloud.network.beginTime();
  return cloud;
}

/** The path of the resource group of a plan: the one it names, or the first. */
export function groupFor(
  topology: ArmTopology,
  plan: { readonly subscription?: string | undefined; readonly group?: string | undefined },
): string {
  const [first] = topology.subscriptions;
  const subscription = plan.subscription ?? first?.id ?? '';
  const known = topology.subscriptions.find(({ id }) => id.toLowerCase() === subscription.toLowerCase());
  return groupPath(subscription, plan.group ?? known?.groups[0] ?? '');
}

function addNetworks(cloud: ArmCloud, topology: ArmTopology): void {
  for (const plan of topology.virtualNetworks) {
    const path = networkPath(groupFor(topology, plan), 'virtualNetworks', plan.name);
    const id = keyOf(path);
    const { name, blocks } = plan;
    const state = 'Succeeded' as const;
    cloud.virtualNetworks.set(id, { id, path, name, blocks, state, etag: cloud.newEtag() });
    const associated = blocks.map((block) => ({ associationId: block, block }));
    cloud.network.put('vpcs', { id, blocks: associated, ipv6Blocks: [], tags: {} });
    for (const subnet of plan.subnets) {
      const subnetPath = `${path}/subnets/${subnet.name}`;
      const subnetId = keyOf(subnetPath);
      const shared = { id: subnetId, block: subnet.block };
      cloud.network.addSubnet({ ...shared, vpcId: id, zone: '', tags: {} });
      cloud.subnets.set(subnetId, {
        ...shared,
        path: subnetPath,
        name: subnet.name,
        listed: subnet.listed,
        otherPrefixes: subnet.otherPrefixes,
        networkId: id,
        state,
        etag: cloud.newEtag(),
      });
    }
  }
}

function addPrefixes(cloud: ArmCloud, topology: ArmTopology): void {
  for (const plan of topology.publicIpPrefixes) {
    const path = networkPath(groupFor(topology, plan), 'publicIPPrefixes', plan.name);
    const { name, block, tags } = plan;
    const id = keyOf(path);
    cloud.publicIpPrefixes.set(id, {
      id,
      path,
      name,
      block,
      tags,
      state: 'Succeeded',
      etag: cloud.newEtag(),
    });
  }
}

function addScaleSet(cloud: ArmCloud, topology: ArmTopology, plan: ArmTopology['scaleSets'][number]): void {
  const group = groupFor(topology, plan);
  const path = scaleSetPath(group, plan.name);
  const record: ScaleSet = {
    id: keyOf(path),
    path,
    name: plan.name,
    mode: plan.mode,
    etag: '"1"',
    state: 'Succeeded',
    plan,
    made: 0,
    model: {
      location: cloud.location,
      tags: plan.tags,
      ...(plan.zones.length > 0 && { zones: plan.zones }),
      sku: { name: plan.size, tier: 'Standard' },
      properties: { orchestrationMode: plan.mode, upgradePolicy: { mode: 'Manual' } },
    },
  };
  cloud.scaleSets.put(record);
  for (let made = 0; made < plan.count; made++) addInstance(cloud, record.id);
}
