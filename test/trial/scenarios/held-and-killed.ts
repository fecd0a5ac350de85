// Hides the second interface of every node, so that the leader holds withdrawals. Then kills the leader; from its successor the
// cloud hides the interfaces of a few nodes only, too few for the brake of the successor.
import type { ControllerProcess } from '../../../rig/controller-process.ts';
import { addressesNow, count, type Findings, inUse } from '../findings.ts';
import { consistencyWindow, type TrialCluster } from '../rig/trial-cluster.ts';
import { account, region } from '../rig/trial-topology.ts';
import { end, giveUp, untilBalanced, untilEmpty, untilReadAfter } from '../rig/works.ts';
import { unreadiness, untilReady, untilSaid, untilLeaseEvent } from '../reported.ts';
import { Draws, groupSize, hour, type Trial, warmUp } from '../trial.ts';

const stillHidden = 2;

export const heldAndKilled: Trial = {
  name: 'held-and-killed',
  title: 'the leader is killed while it holds what is missing',
  terminatedVisibleMs: hour,
  play,
};

async function play(cluster: TrialCluster, leader: ControllerProcess): Promise<Findings> {
  const { fleet, veil } = cluster;
  const total = fleet.nodes.length;
  const draws = new Draws(fleet.nodes);
  const [early, late] = [draws.take(groupSize(cluster)), draws.take(groupSize(cluster))];
  const [first, second] = [draws.take(2), draws.take(2)];
  const few = new Set(draws.take(stillHidden).map(({ facts }) => facts.instanceId));
  await end(cluster, first);
  const [calmFarewell] = await Promise.all([untilEmpty(cluster, first), warmUp(cluster, draws)]);
  giveUp(cluster, early);
  const calmRelease = await untilBalanced(cluster, early);
  await fleet.remove(first);
  const standby = await cluster.startController();

  const used = inUse(fleet.nodes);
  const all = count(fleet.nodes.length);
  veil.wear({ networkInterface: (_, deviceIndex) => deviceIndex === 1 });
  const sentence = await untilLeaseEvent(cluster);
  const unready = await unreadiness(leader, cluster);
  const taken = await takenAway(cluster);
  await end(cluster, second);
  const farewell = await untilEmpty(cluster, second);
  giveUp(cluster, late);
  await leader.child.kill();
  const inherited = await untilSaid(cluster, standby, /is taken away/);
  veil.wear({ networkInterface: (id, deviceIndex) => deviceIndex === 1 && few.has(id) });
  await untilReadAfter(cluster, 6 * consistencyWindow);
  const held = await unreadiness(standby, cluster);
  const takenMeanwhile = (await takenAway(cluster)) - taken;
  veil.wear({});
  await untilReady(cluster, standby);
  const release = await untilBalanced(cluster, late);

  const where = `${region} of account ${account}, where ${all} use addresses`;
  const expected = new RegExp(
    `^interfaces or addresses of ${all} nodes of vpc-\\w+ are missing in ${where}: `,
  );
  return {
    story: `the second interfaces of ${count(total)} nodes are hidden, the leader is killed, its successor sees all but those of ${stillHidden}`,
    addresses: await addressesNow(cluster, used),
    times: [
      { what: 'a terminated instance offers nothing', troubled: farewell, calm: calmFarewell },
      { what: `release of ${late.length} nodes once nothing is held`, troubled: release, calm: calmRelease },
    ],
    sentence,
    complaints: [
      ...(expected.test(sentence)
        ? []
        : [`the sentence names numbers, region and account: ${expected.source}`]),
      ...(unready?.includes('--allow-withdrawals=')
        ? []
        : ['the leader is not ready, and says how to let them go']),
      ...(inherited.includes('because the previous leader held withdrawals')
        ? []
        : [`the successor knows: ${inherited}`]),
      ...(held === undefined ? ['the successor holds what is still hidden'] : []),
      ...(takenMeanwhile === 0 ? [] : [`nothing is taken away meanwhile: ${takenMeanwhile} calls`]),
    ],
  };
}

function takenAway({ hand }: TrialCluster): Promise<number> {
  return hand.calls('UnassignPrivateIpAddresses', 'DetachNetworkInterface', 'DeleteNetworkInterface');
}
