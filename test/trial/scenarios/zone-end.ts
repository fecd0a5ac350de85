// Ends a zone, and the cloud forgets its instances at once; new machines get addresses that pools of dead ones still name.
import { addressesNow, count, type Findings, inUse } from '../findings.ts';
import { consistencyWindow, type TrialCluster } from '../rig/trial-cluster.ts';
import type { TrialNode } from '../rig/trial-node.ts';
import { region, usedAtFirst } from '../rig/trial-topology.ts';
import { end, giveUp, untilBalanced, untilReadAfter } from '../rig/works.ts';
import { leaseEvents } from '../reported.ts';
import { Draws, groupSize, type Trial, warmUp } from '../trial.ts';

export const zoneEnd: Trial = {
  name: 'zone-end',
  title: 'a zone ends, and new machines get the addresses of its nodes',
  terminatedVisibleMs: 0,
  play,
};

async function play(cluster: TrialCluster): Promise<Findings> {
  const { fleet, hand } = cluster;
  const total = fleet.nodes.length;
  const dead = fleet.nodes.filter(({ facts }) => facts.zone === `${region}c`);
  const draws = new Draws(fleet.nodes.filter((node) => !dead.includes(node)));
  const early = draws.take(groupSize(cluster));
  const late = draws.take(groupSize(cluster));
  await warmUp(cluster, draws);
  giveUp(cluster, early);
  const calmRelease = await untilBalanced(cluster, early);
  const newcomers = Math.max(4, Math.floor(dead.length / 4));
  const calm = await supply(cluster, newcomers, early.at(0), 'fresh');

  const used = inUse(fleet.nodes.filter((node) => !dead.includes(node)));
  const former = new Set(dead.flatMap(({ shown }) => [...(shown?.pool.keys() ?? [])]));
  await end(cluster, dead);
  const deadIds = new Set(dead.map(({ facts }) => facts.instanceId));
  await cluster.until('the cloud has forgotten them', async () =>
    (await hand.state()).instances.every(({ id }) => !deadIds.has(id)),
  );
  await untilReadAfter(cluster, 2 * consistencyWindow);
  giveUp(cluster, late);
  const [release, after] = await Promise.all([
    untilBalanced(cluster, late),
    supply(cluster, newcomers, dead.at(0), 'again'),
  ]);
  await untilReadAfter(cluster, 2 * consistencyWindow);

  const reused = after.nodes.flatMap(({ inUse: theirs }) => [...theirs]).filter((each) => former.has(each));
  const sentence = dead.at(0)?.shown?.error ?? '';
  const kept = inPools(dead);
  return {
    story: `${count(dead.length)} of ${count(total)} machines are gone and forgotten; ${newcomers} new ones use ${count(reused.length)} of their ${count(former.size)} addresses, of which ${count(kept)} stay in their pools`,
    addresses: await addressesNow(cluster, used),
    times: [
      { what: `supply of ${newcomers} new nodes`, troubled: after.seconds, calm: calm.seconds },
      { what: `release of ${late.length} nodes of other zones`, troubled: release, calm: calmRelease },
    ],
    sentence,
    complaints: [
      ...(reused.length > 0 ? [] : ['the new machines use addresses of the dead ones']),
      ...(kept > 0 ? [] : ['what is not given to others stays in the pools of the dead ones']),
      ...(sentence.includes('is not found: check') ? [] : ['each dead node says what to check']),
      ...(await leaseEvents(cluster)).map((message) => `nothing is held: ${message}`),
    ],
  };
}

function inPools(nodes: readonly TrialNode[]): number {
  return nodes.reduce((sum, { shown }) => sum + (shown?.pool.size ?? 0), 0);
}

/** From the first CiliumNode until all nodes have what they request. */
async function supply(
  cluster: TrialCluster,
  machines: number,
  beside: TrialNode | undefined,
  prefix: string,
): Promise<{ readonly nodes: readonly TrialNode[]; readonly seconds: number }> {
  if (beside === undefined) throw new Error('a zone has no node: take a larger fleet');
  const facts = await cluster.hand.launch(machines, beside.facts, prefix);
  const { clock } = cluster;
  const start = clock.monotonic();
  const nodes = await cluster.fleet.join(facts, usedAtFirst);
  await untilBalanced(cluster, nodes);
  return { nodes, seconds: (clock.monotonic() - start) / 1000 };
}
