// Defines the Alibaba Cloud of the demonstration: mixed instance types in two zones, and two nodes in a third one whose pod
// vSwitch has too few addresses; with the rate limits, latency and lag of Alibaba Cloud. Its changes of interfaces end
// faster than in life, as the agents are faster. In a fourth zone there are only interfaces that were left behind.
import { alibaba } from '../../../config/clouds/alibaba.ts';
import { subnetsOf, validTopology } from '../demo-cloud.ts';
import { readAlibabaTopology, type AlibabaTopology } from '../../../simulator/alibaba/alibaba-topology.ts';
import { readyLife } from '../../../simulator/alibaba/states.ts';
import type { CloudNetwork } from '../../../simulator/cloud/cloud-network.ts';
import { plainInterface } from '../../../simulator/cloud/instances.ts';
import { createInterface } from '../../../simulator/cloud/network-interfaces.ts';
import type { MachineFacts } from '../../../simulator/cluster/embedded-cluster.ts';
import type { NodeFacts } from '../../../simulator/workload/node-facts.ts';

/** The zone with 60 pod addresses, and its number of nodes. */
export const smallZone = { name: 'cn-hangzhou-c', vSwitch: 'pods-c', nodes: 2 } as const;
const smallZoneType = 'ecs.g7.4xlarge';

const formerZone = { name: 'cn-hangzhou-d', vSwitch: 'pods-d' } as const;

/** Cycled, so that a fleet of any size is mixed. */
const types = [
  'ecs.g7.4xlarge',
  'ecs.g6.4xlarge',
  'ecs.g7.xlarge',
  'ecs.c7.4xlarge',
  'ecs.g6.8xlarge',
] as const;

/** The permissions of docs/ram-policy.json: the controller of the demonstration may do nothing else. */
export const policyOfHeadwater: readonly string[] = alibaba.policy?.permissions ?? [];

/** The agent configuration of each machine. All agents on Alibaba Cloud speak this protocol. */
export function configureAlibabaNode(facts: MachineFacts): NodeFacts {
  return { ...facts, protocol: 'crd-allocator', alibaba: { vSwitchTags: { purpose: 'pods' } } };
}

export function alibabaTopology(nodes: number, seed: string): AlibabaTopology {
  const instances = Array.from({ length: nodes }, (_, index) => {
    const isSmall = index < smallZone.nodes;
    return {
      name: `node-${index}`,
      type: isSmall ? smallZoneType : types[index % types.length],
      vSwitch: isSmall ? 'nodes-c' : `nodes-${'ab'.charAt(index % 2)}`,
      securityGroups: ['nodes'],
    };
  });
  const zones = ['cn-hangzhou-a', 'cn-hangzhou-b', smallZone.name, formerZone.name];
  const read = readAlibabaTopology(
    JSON.stringify({
      cloud: 'alibabacloud',
      region: 'cn-hangzhou',
      seed,
      credentials: [
        {
          accessKeyId: 'LTAIHEADWATEREXAMPLE',
          accessKeySecret: 'headwater-example-secret',
          actions: policyOfHeadwater,
        },
      ],
      vpcs: [{ name: 'production', blocks: ['10.20.0.0/16'] }],
      vSwitches: subnetsOf(zones, smallZone.name),
      securityGroups: [{ name: 'nodes' }],
      instances,
      // Agents that are ten times faster ask more often.
      limits: { scale: 4 },
      times: {
        createMs: { min: 0, max: 300 },
        attachMs: { min: 300, max: 1500 },
        detachMs: { min: 200, max: 1000 },
        deleteMs: { min: 100, max: 500 },
      },
    }),
  );
  return validTopology(read);
}

export interface LeftInterfaces {
  /** Ids of those that carry the tags of this cluster. */
  readonly ours: readonly string[];
  /** Ids of those of another cluster. */
  readonly others: readonly string[];
  /** Where they are. */
  readonly place: string;
}

/** Leaves interfaces behind, as controllers do that die between creation and attachment. */
export function leaveInterfaces(network: CloudNetwork): LeftInterfaces {
  const vSwitch = [...network.subnets.values()].find(
    ({ zone, name }) => zone === formerZone.name && name === formerZone.vSwitch,
  );
  const leave = (clusterName: string): string => {
    const tags = { 'io.cilium/cilium-managed': 'true', 'io.cilium/cluster-name': clusterName };
    const request = { ...plainInterface(vSwitch?.id ?? '', []), tags, life: readyLife(network) };
    return createInterface(network, request).id;
  };
  return { ours: [leave('demo'), leave('demo')], others: [leave('another')], place: formerZone.name };
}
