// Builds a network from a topology. Everything it names exists from the start, running and attached.
import { CloudNetwork, type CloudNetworkOptions } from './cloud-network.ts';
import { launch, type LaunchInterface } from './instances.ts';
import { noIpv6 } from './ipv6-claims.ts';
import { nothing } from './claims.ts';
import { allocateAddress } from './public-addresses.ts';
import { associateRouteTable, createRouteTable } from './route-tables.ts';
import { createGroup } from './security-groups.ts';
import { createReservation, createSubnet } from './subnets.ts';
import type { Tags } from './records.ts';
import { vpcNameOf } from './topology-checks.ts';
import type { InterfacePlan, Topology } from './topology-schema.ts';
import { isReserved } from './tags.ts';
import { addVpcBlock, addVpcIpv6Block, createVpc } from './vpcs.ts';

/** Ids by their topology names. */
interface Directory {
  readonly vpcs: Map<string, string>;
  readonly subnets: Map<string, string>;
  readonly groups: Map<string, string>;
}

type InstancePlan = Topology['instances'][number];

/** Builds a validated topology. Refuses what does not fit, as the cloud would (too few addresses in a subnet). */
export function buildNetwork(options: CloudNetworkOptions & { readonly topology: Topology }): CloudNetwork {
  const network = new CloudNetwork(options);
  const { topology } = options;
  const directory: Directory = { vpcs: new Map(), subnets: new Map(), groups: new Map() };
  addNetworks(network, topology, directory);
  for (const plan of topology.publicAddresses) {
    for (let made = 0; made < plan.count; made++) allocateAddress(network, plan);
  }
  for (const plan of topology.instances) {
    for (let made = 0; made < plan.count; made++) addInstance(network, directory, plan, made);
  }
  network.beginTime();
  return network;
}

function addNetworks(network: CloudNetwork, topology: Topology, directory: Directory): void {
  const vpcOf = (owner: { readonly vpc?: string | undefined }): string =>
    idOf(directory.vpcs, vpcNameOf(topology, owner) ?? '');
  for (const { id, name, owner, blocks, ipv6Block, tags } of topology.vpcs) {
    const [first = '', ...others] = blocks;
    const vpc = createVpc(network, { id, owner, block: first, tags: named(name, tags) });
    others.forEach((block) => addVpcBlock(network, vpc.id, block));
    if (ipv6Block !== undefined) addVpcIpv6Block(network, vpc.id, ipv6Block);
    directory.vpcs.set(name, vpc.id);
  }
  for (const { name, reservations, tags, ...plan } of topology.subnets) {
    const subnet = createSubnet(network, { ...plan, vpcId: vpcOf(plan), tags: named(name, tags) });
    directory.subnets.set(name, subnet.id);
    for (const reservation of reservations) {
      createReservation(network, { ...reservation, subnetId: subnet.id, tags: {} });
    }
  }
  for (const { name, subnets, tags, ...plan } of topology.routeTables) {
    const table = createRouteTable(network, { ...plan, vpcId: vpcOf(plan), tags: named(name, tags) });
    subnets.forEach((subnet) => associateRouteTable(network, table.id, idOf(directory.subnets, subnet)));
  }
  for (const { vpc, ...plan } of topology.securityGroups) {
    const group = createGroup(network, { ...plan, vpcId: vpcOf({ vpc }), tags: named(plan.name, plan.tags) });
    directory.groups.set(plan.name, group.id);
  }
}

function addInstance(network: CloudNetwork, directory: Directory, plan: InstancePlan, index: number): void {
  const name = plan.count === 1 ? plan.name : `${plan.name}-${index + 1}`;
  const primary = {
    subnetId: idOf(directory.subnets, plan.subnet),
    claim: { ...nothing, count: plan.addresses, prefixCount: plan.prefixes },
    ipv6: { ...noIpv6, prefixCount: plan.ipv6Prefixes },
    type: 'interface' as const,
    groupIds: plan.securityGroups.map((group) => idOf(directory.groups, group)),
    description: '',
    tags: {},
  };
  const first: LaunchInterface = {
    kind: 'new',
    request: primary,
    deviceIndex: 0,
    cardIndex: 0,
    deleteOnTermination: true,
  };
  const others = plan.interfaces.map((extra, place) => launchInterface(directory, plan, extra, place + 1));
  const made = launch(network, {
    id: plan.id,
    name,
    reservationId: network.newId('r'),
    launchIndex: 0,
    type: plan.type,
    imageId: 'ami-0123456789abcdef0',
    interfaces: [first, ...others],
    tags: named(
      name,
      tagsBy(plan, (key) => !isReserved(key)),
    ),
  });
  network.put('instances', { ...made, tags: { ...made.tags, ...tagsBy(plan, isReserved) } });
}

function tagsBy({ tags }: InstancePlan, isWanted: (key: string) => boolean): Tags {
  return Object.fromEntries(Object.entries(tags).filter(([key]) => isWanted(key)));
}

function launchInterface(
  directory: Directory,
  plan: InstancePlan,
  extra: InterfacePlan,
  position: number,
): LaunchInterface {
  const groups = extra.securityGroups.length > 0 ? extra.securityGroups : plan.securityGroups;
  return {
    kind: 'new',
    deviceIndex: extra.deviceIndex ?? position,
    cardIndex: extra.cardIndex,
    deleteOnTermination: extra.deleteOnTermination,
    request: {
      subnetId: idOf(directory.subnets, extra.subnet ?? plan.subnet),
      claim: { ...nothing, count: extra.addresses, prefixCount: extra.prefixes },
      ipv6: { ...noIpv6, prefixCount: extra.ipv6Prefixes },
      type: extra.type,
      groupIds: groups.map((group) => idOf(directory.groups, group)),
      description: extra.description,
      requesterManaged: extra.requesterManaged,
      tags: extra.tags,
    },
  };
}

function named(name: string, tags: Tags): Tags {
  return { Name: name, ...tags };
}

function idOf(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name);
  if (id === undefined)
    throw new Error(`the topology names ${JSON.stringify(name)}, which it does not define`);
  return id;
}
