// A whole cluster in one process, without a controller: a cloud, a Kubernetes API, and nodes with agents and pods.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { AlibabaTopology } from '../alibaba/alibaba-topology.ts';
import { type Alibaba, createAlibaba } from '../alibaba/create-alibaba.ts';
import type { ArmTopology } from '../arm/arm-topology.ts';
import { type Arm, createArm } from '../arm/create-arm.ts';
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import type { Topology } from '../cloud/topology.ts';
import { createEc2, type Ec2 } from '../ec2/create-ec2.ts';
import { ciliumNodeCrd } from '../kubernetes/ciliumnode-crd.ts';
import { KubernetesModel } from '../kubernetes/kubernetes-model.ts';
import { WorkloadFleet } from '../workload/workload-fleet.ts';
import type { WorkloadEvent } from '../workload/journal.ts';
import type { CloudName, NodeFacts } from '../workload/node-facts.ts';

export interface EmbeddedClusterOptions<T = Topology> {
  readonly topology: T;
  readonly clock: Clock;
  readonly random: Random;
  /** Speed-up of agents and kubelets. */
  readonly pace: number;
  /** Adds what a machine's agent knows beyond its instance metadata. */
  readonly configure: (facts: MachineFacts, index: number) => NodeFacts;
  readonly onEvent?: (event: WorkloadEvent) => void;
}

/** An instance, as it knows itself. */
export type MachineFacts = Omit<
  NodeFacts,
  'protocol' | 'ipam' | 'eni' | 'azure' | 'alibaba' | 'agentAddresses'
>;

/** A cluster whatever its cloud. */
export interface SimulatedCluster {
  /** The network that the cloud truly holds. */
  readonly network: CloudNetwork;
  readonly kubernetes: KubernetesModel;
  readonly workload: WorkloadFleet;
}

export interface EmbeddedCluster extends SimulatedCluster {
  readonly ec2: Ec2;
}

export interface EmbeddedAzure extends SimulatedCluster {
  readonly arm: Arm;
}

export interface EmbeddedAlibaba extends SimulatedCluster {
  readonly alibaba: Alibaba;
}

export function createEmbeddedCluster(options: EmbeddedClusterOptions): EmbeddedCluster {
  const { topology, clock, random } = options;
  const ec2 = createEc2({ topology, clock, random });
  return { ec2, ...populated(options, ec2.network, 'aws') };
}

export function createEmbeddedAzure(options: EmbeddedClusterOptions<ArmTopology>): EmbeddedAzure {
  const { topology, clock, random } = options;
  const arm = createArm({ topology, clock, random });
  return { arm, ...populated(options, arm.cloud.network, 'azure') };
}

export function createEmbeddedAlibaba(options: EmbeddedClusterOptions<AlibabaTopology>): EmbeddedAlibaba {
  const { topology, clock, random } = options;
  const alibaba = createAlibaba({ topology, clock, random });
  return { alibaba, ...populated(options, alibaba.network, 'alibabacloud') };
}

function populated(
  { clock, random, pace, configure, onEvent }: Omit<EmbeddedClusterOptions, 'topology'>,
  network: CloudNetwork,
  cloud: CloudName,
): SimulatedCluster {
  const kubernetes = new KubernetesModel({ clock, random: random.fork('kubernetes'), crds: [ciliumNodeCrd] });
  const workload = new WorkloadFleet({
    handler: kubernetes.handle,
    clock,
    random: random.fork('workload'),
    nodes: machinesOf(network, cloud).map(configure),
    pace,
    ...(onEvent !== undefined && { onEvent }),
  });
  return { network, kubernetes, workload };
}

/** Every running instance as a node's machine. */
export function machinesOf(network: CloudNetwork, cloud: CloudName = 'aws'): MachineFacts[] {
  const primary = new Map(
    [...network.interfaces.values()]
      .filter((item) => item.deviceIndex === 0)
      .map((item) => [item.instanceId, item]),
  );
  const networkCidrOf = (vpcId: string): string | undefined =>
    network.all('vpcs').get(vpcId)?.blocks[0]?.block;
  return [...network.instances.values()].flatMap((instance) => {
    const own = primary.get(instance.id);
    if (own === undefined) return [];
    const networkCidr = cloud === 'alibabacloud' ? networkCidrOf(own.vpcId) : undefined;
    return {
      ...(cloud !== 'aws' && { cloud }),
      name: `ip-${own.primaryAddress.replaceAll('.', '-')}`,
      instanceId: instance.id,
      instanceType: instance.type,
      vpcId: own.vpcId,
      ...(networkCidr !== undefined && { networkCidr }),
      zone: own.zone,
      subnetId: own.subnetId,
      primaryAddress: own.primaryAddress,
    };
  });
}
