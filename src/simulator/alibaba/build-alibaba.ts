// Builds the network of a topology of Alibaba Cloud. Everything it names exists from the start, running and attached.
import type { Random } from '../../runtime/random.ts';
import { nothing } from '../cloud/claims.ts';
import { CloudNetwork } from '../cloud/cloud-network.ts';
import { launch, type LaunchInterface } from '../cloud/instances.ts';
import { formatIpv4Block, parseIpv4Block } from '../cloud/ipv4.ts';
import { noIpv6 } from '../cloud/ipv6-claims.ts';
import type { PacedClock } from '../cloud/paced-clock.ts';
import { putGroup } from '../cloud/security-groups.ts';
import { vpcOf } from './alibaba-topology-checks.ts';
import type { AlibabaTopology, InterfacePlan } from './alibaba-topology-schema.ts';
import { ecsRules } from './ecs-instance-types.ts';
import { readyLife } from './states.ts';

/** Ids by their topology names. */
interface Directory {
  readonly vpcs: Map<string, string>;
  readonly vSwitches: Map<string, string>;
  readonly groups: Map<string, string>;
}

type InstancePlan = AlibabaTopology['instances'][number];

/** Builds a validated topology. Refuses what does not fit, as the cloud would (too few addresses in a vSwitch). */
export function buildAlibaba(options: {
  readonly topology: AlibabaTopology;
  readonly clock: PacedClock;
  readonly random: Random;
}): CloudNetwork {
  const { topology } = options;
  const { releaseMs: terminateMs, ...times } = topology.times;
  const network = new CloudNetwork({
    ...options,
    // A released instance is not shown any more.
    topology: { ...topology, times: { ...times, terminateMs, terminatedVisibleMs: { min: 0, max: 0 } } },
    rules: ecsRules,
  });
  const directory: Directory = { vpcs: new Map(), vSwitches: new Map(), groups: new Map() };
  addNetworks(network, topology, directory);
  for (const plan of topology.instances) {
    for (let made = 0; made < plan.count; made++) addInstance(network, directory, plan, made);
  }
  network.beginTime();
  return network;
}

function addNetworks(network: CloudNetwork, topology: AlibabaTopology, directory: Directory): void {
  const ownerOf = (owner: { readonly vpc?: string | undefined }): string =>
    idOf(directory.vpcs, vpcOf(topology, owner)?.name ?? '');
  for (const { id = network.newId('vpc'), name, blocks, tags } of topology.vpcs) {
    const associated = blocks.map((block) => ({ associationId: block, block: canonical(block) }));
    network.put('vpcs', { id, blocks: associated, ipv6Blocks: [], name, tags });
    putGroup(network, { name: 'default', description: 'default group of the VPC', vpcId: id, tags: {} });
    directory.vpcs.set(name, id);
  }
  for (const { id = network.newId('vsw'), name, vpc, zone, block, tags } of topology.vSwitches) {
    const vpcId = ownerOf({ vpc });
    network.addSubnet({ id, vpcId, zone, block: canonical(block), name, tags });
    directory.vSwitches.set(name, id);
  }
  for (const { vpc, ...plan } of topology.securityGroups) {
    directory.groups.set(plan.name, putGroup(network, { ...plan, vpcId: ownerOf({ vpc }) }).id);
  }
}

function addInstance(network: CloudNetwork, directory: Directory, plan: InstancePlan, index: number): void {
  const primary = {
    ...plan,
    name: '',
    description: '',
    deleteOnRelease: true,
    serviceManaged: false,
    tags: {},
  };
  launch(network, {
    id: plan.id,
    name: plan.count === 1 ? plan.name : `${plan.name}-${index + 1}`,
    reservationId: '',
    launchIndex: 0,
    type: plan.type,
    imageId: 'aliyun_3_x64_20G_alibase_20260101.vhd',
    interfaces: [primary, ...plan.interfaces].map((extra, deviceIndex) =>
      interfaceOf(network, directory, { ...extra, plan, deviceIndex }),
    ),
    tags: plan.tags,
  });
}

function interfaceOf(
  network: CloudNetwork,
  directory: Directory,
  extra: InterfacePlan & { readonly plan: InstancePlan; readonly deviceIndex: number },
): LaunchInterface {
  const { plan, deviceIndex, deleteOnRelease } = extra;
  const groups = extra.securityGroups.length > 0 ? extra.securityGroups : plan.securityGroups;
  return {
    kind: 'new',
    deviceIndex,
    cardIndex: 0,
    deleteOnTermination: deleteOnRelease,
    request: {
      subnetId: idOf(directory.vSwitches, extra.vSwitch ?? plan.vSwitch),
      claim: { ...nothing, count: extra.addresses },
      ipv6: noIpv6,
      type: 'interface',
      groupIds: groups.map((group) => idOf(directory.groups, group)),
      description: extra.description,
      requesterManaged: extra.serviceManaged,
      life: { ...readyLife(network), name: extra.name, deleteOnRelease },
      tags: extra.tags,
    },
  };
}

function canonical(text: string): string {
  const block = parseIpv4Block(text);
  return block === undefined ? text : formatIpv4Block(block);
}

function idOf(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name);
  if (id === undefined)
    throw new Error(`the topology names ${JSON.stringify(name)}, which it does not define`);
  return id;
}
