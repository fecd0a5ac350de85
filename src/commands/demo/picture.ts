// Captures one moment of the demonstration as data, from the cloud, the agents and the API, never from the controller.
import {
  invariantViolations,
  type InvariantViolation,
  detachedInterfaces,
  standings,
} from '../../simulator/cluster/invariants.ts';
import type { CallCounters } from '../../simulator/cloud/call-counters.ts';
import type { SimulatedCluster } from '../../simulator/cluster/embedded-cluster.ts';
import { hasItsPrefix, ipv6Standings } from '../../simulator/cluster/ipv6-prefixes.ts';
import { sumOfWaits, noWaits } from '../../simulator/workload/waiting-times.ts';
import { type Departures, type DepartureWatch, totalLeaving } from './departure-watch.ts';

/** The cloud that a picture shows. */
export interface PicturedCloud {
  /** As spectators read it. */
  readonly name: string;
  readonly cluster: SimulatedCluster;
  readonly counters: CallCounters;
  /** Ids of interfaces that do not concern the cluster. */
  readonly ofOthers?: readonly string[];
}

export interface Picture {
  /** Name of the cloud. */
  readonly cloud: string;
  readonly nodes: { readonly total: number; readonly serving: number; readonly met: number };
  /** Nodes whose agents ask for IPv6, and those of them that have one prefix and show it. */
  readonly dualStack: { readonly asking: number; readonly met: number };
  /** Pod addresses in the cloud, and those that pods and agents use. */
  readonly addresses: { readonly held: number; readonly used: number; readonly excess: number };
  readonly departures: Departures;
  readonly pods: { readonly served: number; readonly waiting: number; readonly maxWait: number };
  readonly interfaces: { readonly attached: number; readonly detached: number };
  readonly subnets: readonly SubnetPicture[];
  readonly calls: readonly CallPicture[];
  readonly violations: readonly InvariantViolation[];
}

export interface SubnetPicture {
  readonly name: string;
  readonly taken: number;
  readonly size: number;
}

export interface CallPicture {
  readonly action: string;
  readonly isRead: boolean;
  readonly calls: number;
  readonly throttled: number;
}

export function takePicture(
  { name: cloud, cluster, counters, ofOthers = [] }: PicturedCloud,
  departures: DepartureWatch,
): Picture {
  const { network, workload } = cluster;
  const { views } = workload;
  const nodes = standings(cluster);
  const dualStack = ipv6Standings(cluster);
  const detached = detachedInterfaces(cluster).filter(({ id }) => !ofOthers.includes(id)).length;
  const waits = views.map(({ waits }) => waits).reduce(sumOfWaits, noWaits);
  const calls = Object.entries(counters.all());
  return {
    cloud,
    nodes: {
      total: views.length,
      serving: views.filter(({ phase }) => phase === 'serving').length,
      met: nodes.filter(({ met }) => met).length,
    },
    dualStack: { asking: dualStack.length, met: dualStack.filter(hasItsPrefix).length },
    addresses: {
      held: nodes.reduce((sum, { held }) => sum + held, 0),
      used: nodes.reduce((sum, { used }) => sum + used, 0),
      excess: nodes.reduce((sum, { excess }) => sum + excess, 0),
    },
    departures: departures.read(),
    pods: {
      served: waits.count,
      waiting: views.reduce((sum, { pendingPods }) => sum + pendingPods.size, 0),
      maxWait: waits.max,
    },
    interfaces: { attached: network.interfaces.size - detached, detached },
    subnets: [...network.subnets.values()].map(({ id, block, available, tags }) => {
      const whole = 2 ** (32 - Number(block.split('/')[1]));
      const size = whole - network.rules.reservedOffsets(whole).length;
      return { name: tags['Name'] ?? id.slice(id.lastIndexOf('/') + 1), taken: size - available, size };
    }),
    calls: calls.map(([action, { calls, throttled }]) => ({
      action,
      isRead: /^Describe|\.(Get|List)/.test(action),
      calls,
      throttled,
    })),
    violations: invariantViolations(cluster),
  };
}

/**
 * Whether every pod has its address, every node what its watermarks require, and no interface or address is in flight.
 * `releases`: no node has more, either.
 */
export function isSettled(
  { nodes, dualStack, addresses, departures, pods, interfaces }: Picture,
  releases: boolean,
): boolean {
  const { total, serving, met } = nodes;
  const isServed =
    serving === total && met === total && dualStack.met === dualStack.asking && pods.waiting === 0;
  const isExact = !releases || (addresses.excess === 0 && totalLeaving(departures) === 0);
  return isServed && isExact && interfaces.detached === 0;
}
