// Work that a controller must finish under any fault, and how long it takes: releasing, growing, forgetting machines that are
// gone, and supplying new ones. The cloud and the agents decide when it has finished.
import type { TrialCluster } from './trial-cluster.ts';
import type { TrialNode } from './trial-node.ts';

/** Addresses that a node uses after it released others, and after it grew. */
const usedAfterRelease = 4;
const usedAfterGrowth = 14;

/** Their agents release more than half of what they use. Nothing here waits for the controller. */
export function giveUp({ fleet }: TrialCluster, nodes: readonly TrialNode[]): void {
  fleet.use(nodes, usedAfterRelease);
}

export function askForMore({ fleet }: TrialCluster, nodes: readonly TrialNode[]): void {
  fleet.use(nodes, usedAfterGrowth);
}

/** Resolves to the seconds until these nodes have exactly what they request, in their CiliumNodes and in the cloud. */
export async function untilBalanced(cluster: TrialCluster, nodes: readonly TrialNode[]): Promise<number> {
  const isSo = async (): Promise<boolean> =>
    nodes.every(({ isSettled }) => isSettled) && (await isBalancedInCloud(cluster, nodes));
  return cluster.until(`${nodes.length} nodes have just what they ask for`, isSo);
}

async function isBalancedInCloud({ hand }: TrialCluster, nodes: readonly TrialNode[]): Promise<boolean> {
  const assigned = new Map<string, number>();
  for (const { instanceId = '', addresses } of (await hand.state()).interfaces) {
    assigned.set(instanceId, (assigned.get(instanceId) ?? 0) + addresses.length - 1);
  }
  return nodes.every(({ facts, demand }) => assigned.get(facts.instanceId) === demand);
}

/** Terminates the machines in the cloud; their agents use nothing from now on. */
export async function end({ hand }: TrialCluster, nodes: readonly TrialNode[]): Promise<void> {
  for (const node of nodes) node.isGone = true;
  await hand.terminate(nodes.map(({ facts }) => facts));
}

/** Resolves to the seconds until these nodes, whose machines are terminated, offer nothing. */
export function untilEmpty(cluster: TrialCluster, nodes: readonly TrialNode[]): Promise<number> {
  return cluster.until(`${nodes.length} nodes of terminated instances offer nothing`, () =>
    nodes.every(({ shown }) => shown?.pool.size === 0),
  );
}

/** Resolves once the controller has read interfaces at least `ms` after this call, as seen by `hand`. */
export async function untilReadAfter(cluster: TrialCluster, ms: number, hand = cluster.hand): Promise<void> {
  const start = cluster.clock.monotonic();
  const reads = (): Promise<number> => hand.calls('DescribeNetworkInterfaces');
  await cluster.until(`${ms} ms are over`, () => cluster.clock.monotonic() - start >= ms);
  const before = await reads();
  await cluster.until('interfaces are read again', async () => (await reads()) > before + 1);
}
