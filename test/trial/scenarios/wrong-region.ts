// Replaces the leader by one that reads another region, which knows none of the instances; later by one with the right region.
import type { ControllerProcess } from '../../../rig/controller-process.ts';
import { addressesNow, count, type Findings, inUse } from '../findings.ts';
import { Ec2Hand } from '../rig/ec2-hand.ts';
import { consistencyWindow, resyncInterval, type TrialCluster } from '../rig/trial-cluster.ts';
import type { Shown, TrialNode } from '../rig/trial-node.ts';
import { account, otherRegion, otherRegionTopology } from '../rig/trial-topology.ts';
import { giveUp, untilBalanced, untilReadAfter } from '../rig/works.ts';
import { leaseEvents, unreadiness, untilLeaseEvent } from '../reported.ts';
import { Draws, groupSize, hour, type Trial } from '../trial.ts';

export const wrongRegion: Trial = {
  name: 'wrong-region',
  title: 'a new leader asks another region, which knows none of the instances',
  terminatedVisibleMs: hour,
  play,
};

async function play(cluster: TrialCluster, first: ControllerProcess): Promise<Findings> {
  const { fleet, where } = cluster;
  const draws = new Draws(fleet.nodes);
  await first.child.stop();
  const calm = await releaseUnderNewLeader(cluster, draws.take(groupSize(cluster)));
  await calm.controller.child.stop();

  const before = shownBy(fleet.nodes);
  const used = inUse(fleet.nodes);
  const cloud = await cluster.startCloud(otherRegionTopology());
  const hand = new Ec2Hand(cloud, otherRegion, cluster.signal);
  const ec2 = { url: cloud.url, credentials: cloud.credentials };
  const wrong = await cluster.startController({ ...where, region: otherRegion, ec2 });
  const sentence = await untilLeaseEvent(cluster);
  await untilReadAfter(cluster, resyncInterval + 4 * consistencyWindow, hand);
  const unready = await unreadiness(wrong, cluster);
  const changes = await changesIn(cloud, cluster.signal);
  const isKept = shownBy(fleet.nodes) === before;
  await wrong.child.stop();
  hand.close();
  const after = await releaseUnderNewLeader(cluster, draws.take(groupSize(cluster)));

  const nodes = count(fleet.nodes.length);
  const expected = new RegExp(
    `^none of the ${nodes} instances of vpc-\\w+ is in ${otherRegion} of account ${account}: `,
  );
  return {
    story: `${nodes} nodes, a leader in ${otherRegion} for more than four consistency windows, then one in the right region`,
    addresses: await addressesNow(cluster, used),
    times: [{ what: 'release from the start of a leader', troubled: after.seconds, calm: calm.seconds }],
    sentence,
    complaints: [
      ...(expected.test(sentence)
        ? []
        : [`the sentence names numbers, region and account: ${expected.source}`]),
      ...(unready === sentence ? [] : [`it is not ready, for that reason: ${unready ?? 'it is ready'}`]),
      ...((await leaseEvents(cluster)).length === 1 ? [] : ['one Event on the Lease reports it']),
      ...(isKept ? [] : ['every pool and every interface stays as it was']),
      ...(changes.length === 0 ? [] : [`nothing is changed there: ${changes.join(', ')}`]),
    ],
  };
}

/** From its start on. */
async function releaseUnderNewLeader(
  cluster: TrialCluster,
  nodes: readonly TrialNode[],
): Promise<{ readonly controller: ControllerProcess; readonly seconds: number }> {
  giveUp(cluster, nodes);
  const controller = await cluster.startController();
  return { controller, seconds: await untilBalanced(cluster, nodes) };
}

/** Every pool with its interfaces, as one text. */
function shownBy(nodes: readonly TrialNode[]): string {
  return nodes.map(({ facts, shown }) => [facts.name, ...holdingsOf(shown)].join('\n')).join('\n');
}

function holdingsOf(shown: Shown | undefined): readonly string[] {
  const pool = [...(shown?.pool ?? [])].map(([address, id]) => `${address} in the pool on ${id}`);
  const carried = [...(shown?.interfaces ?? [])].flatMap(([id, addresses]) =>
    [...addresses].map((address) => `${address} in the status on ${id}`),
  );
  return [...pool, ...carried].sort();
}

async function changesIn(
  cloud: Awaited<ReturnType<TrialCluster['startCloud']>>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return Object.keys(await cloud.calls(signal)).filter((action) => !action.startsWith('Describe'));
}
