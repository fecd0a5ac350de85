// The cluster in which leaders are killed, and the pods that come and go in it meanwhile.
import type { E2eClusterOptions } from './e2e-cluster.ts';
import { e2eTopology } from './e2e-topology.ts';
import type { TakeoverPlan } from './takeover-plan.ts';

export interface TakeoverFleet {
  readonly cluster: E2eClusterOptions;
  /** So many are replaced by others each time. */
  readonly pods: number;
  /** Until every node must have what it needs, once there is a leader, in ms. */
  readonly supplied: number;
  /** Until collection must have run after that, and excess must be released, in ms. */
  readonly collected: number;
}

/** Controllers take turns to call as these: who runs at the same time never calls as the same. */
const users = ['first', 'second', 'third', 'fourth', 'fifth'];

/** From so many nodes on, agents and EC2 leave the controllers little of the machine: they act less often. */
const large = 100;
/** A run of more kills is a long one. */
const few = 10;

export function takeoverFleet({ nodes, kills, flags: timings }: TakeoverPlan): TakeoverFleet {
  const flags = [
    ...timings,
    '--eni-gc-interval=1m',
    // Bursts have to create interfaces, and kills hit creations in flight. What these leave costs a minute each time
    // until it is collected, which only a long run has.
    ...(kills > few ? ['--idle-interface-delay=10s'] : []),
  ];
  if (nodes < large) {
    const cluster = { nodes, topology: e2eTopology({ nodes, users }), flags };
    return { cluster, pods: nodes * 4, supplied: 120_000, collected: 180_000 };
  }
  // As thousand-nodes.test.ts: this is not about EC2's limits.
  const scale = 20;
  const cluster = {
    nodes,
    topology: e2eTopology({ nodes, users, scale }),
    pace: 1,
    lookInterval: 5000,
    flags: [
      ...flags,
      `--cloud-quota-overrides=AssignPrivateIpAddresses=${100 * scale}:${5 * scale}`,
      // Of agents that are not faster than in life.
      '--release-quarantine=75s',
    ],
  };
  return { cluster, pods: large * 4, supplied: 600_000, collected: 600_000 };
}
