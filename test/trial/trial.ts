// One trial: a cluster that is well, a trouble, and what came of it.
import type { ControllerProcess } from '../../rig/controller-process.ts';
import type { Protocol } from '../../src/simulator/workload/node-facts.ts';
import type { Findings } from './findings.ts';
import type { TrialCluster } from './rig/trial-cluster.ts';
import type { TrialNode } from './rig/trial-node.ts';
import { giveUp, untilBalanced } from './rig/works.ts';

export interface Trial {
  readonly name: string;
  readonly title: string;
  /** For how long the cloud shows a terminated instance, in ms. */
  readonly terminatedVisibleMs: number;
  readonly play: (cluster: TrialCluster, controller: ControllerProcess) => Promise<Findings>;
}

export const hour = 3_600_000;

/** Nodes of a trial that are used for one thing each. */
export class Draws {
  readonly #left: Readonly<Record<Protocol, TrialNode[]>>;

  constructor(nodes: readonly TrialNode[]) {
    const of = (protocol: Protocol): TrialNode[] => nodes.filter(({ facts }) => facts.protocol === protocol);
    this.#left = { 'crd-allocator': of('crd-allocator'), 'multi-pool': of('multi-pool') };
  }

  /** So many that were not drawn before, half of them of either protocol. */
  take(count: number): readonly TrialNode[] {
    const half = Math.ceil(count / 2);
    const drawn = Object.values(this.#left).flatMap((nodes) => nodes.splice(0, half));
    if (drawn.length < count) throw new Error(`${count} more nodes are needed: take a larger fleet`);
    return drawn;
  }
}

/**
 * Resolves once a leader that has just started takes away what agents gave up. For its first 20 s it takes nothing, which is not
 * what is timed.
 */
export async function warmUp(cluster: TrialCluster, draws: Draws): Promise<void> {
  const nodes = draws.take(2);
  giveUp(cluster, nodes);
  await untilBalanced(cluster, nodes);
}

/** A part of the fleet that is enough to be timed. */
export function groupSize({ fleet }: TrialCluster): number {
  return Math.max(4, Math.round(fleet.nodes.length / 20));
}
