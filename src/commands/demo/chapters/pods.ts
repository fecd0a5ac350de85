// Defines the pods of the demonstration: names, counts and arrival times.
import type { Burst, Departure } from '../../../simulator/workload/workload.ts';

/** On every node. */
export function webPods(nodes: number): Burst {
  return { kind: 'burst', name: 'web', at: 0, pods: nodes * 5, over: 6000 };
}

export function batchPods(nodes: number): Burst {
  return { kind: 'burst', name: 'batch', at: 0, pods: nodes * 3, over: 2000 };
}

/** On one node of the small zone: enough to leave the other in deficit. */
export function reportPods(nodeName: string): Burst {
  return { kind: 'burst', name: 'report', at: 0, pods: 22, over: 4000, nodeName };
}

/** More than the small subnet has left for the other node. */
export function crowdPods(nodeName: string, pods = 20): Burst {
  return { kind: 'burst', name: 'crowd', at: 0, pods, over: 500, nodeName };
}

/** All over the fleet at once. */
export function rushPods(nodes: number): Burst {
  return { kind: 'burst', name: 'rush', at: 0, pods: nodes * 2, over: 500 };
}

/** While there is no leader. */
export function latePods(nodes: number): Burst {
  return { kind: 'burst', name: 'late', at: 500, pods: Math.ceil(nodes / 2), over: 4000 };
}

export function departureOf({ name, pods }: Burst, at: number, over: number): Departure {
  return { kind: 'departure', name: `${name} leaves`, of: name, pods, at, over };
}
