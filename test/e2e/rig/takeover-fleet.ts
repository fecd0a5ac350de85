// The cluster in which leaders are killed, and the pods that come and go in it.
import type { E2eClusterOptions } from './e2e-cluster.ts';
import { e2eTopology } from './e2e-topology.ts';
import type { TakeoverPlan } from './takeover-plan.ts';

export interface TakeoverFleet {
  readonly cluster: E2eClusterOptions;
  /** Number of pods that others replace each time. */
  readonly pods: number;
  /** Maximum time from the start of a leader until every node has what it needs, in ms. */
  readonly supplied: number;
  /** Maximum time after that until orphans are deleted and excess is released, in ms. */
  readonly collected: number;
}

/** Identities in EC2, in turn: concurrent controllers never share one. */
const users = ['first', 'second', 'third', 'fourth', 'fifth'];

/** From this many nodes on, agents and EC2 leave the controllers little of the machine, so they act less often. */
const large = 100;
/** A run with more kills is a long one. */
const few = 10;

export function takeoverFleet({ nodes, kills, flags: timings }: TakeoverPlan): TakeoverFleet {
  const flags = [
    ...timings,
    '--eni-gc-interval=1m',
    // Bursts must create interfaces, and kills must hit creations in flight. What they leave takes a minute each time until it
    // is collected, which only a long run has.
    ...(kills > few ? ['--idle-interface-delay=10s'] : []),
  ];
  if (nodes < large) {
    const cluster = { nodes, topology: e2eTopology({ nodes, users }), flags };
    return { cluster, pods: nodes * 4, supplied: 120_000, collected: 180_000 };
  }
  // As in thousand-nodes.test.ts: this is not about EC2's limits.
  const scale = 20;
  const cluster = {
    nodes,
    topology: e2eTopology({ nodes, users, scale }),
    pace: 1,
    lookInterval: 5000,
    flags: [
      ...flags,
      `--cloud-quota-overrides=AssignPrivateIpAddresses=${100 * scale}:${5 * scale}`,
      // Agents at real speed.
      '--release-quarantine=75s',
    ],
  };
  return { cluster, pods: large * 4, supplied: 600_000, collected: 600_000 };
}
