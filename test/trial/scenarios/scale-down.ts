// Terminates six in ten machines at once, as at night. Half of their CiliumNodes go at the same moment, the others later.
import { addressesNow, count, type Findings, inUse } from '../findings.ts';
import { consistencyWindow, type TrialCluster } from '../rig/trial-cluster.ts';
import { end, giveUp, untilBalanced, untilEmpty, untilReadAfter } from '../rig/works.ts';
import { leaseEvents } from '../reported.ts';
import { Draws, groupSize, hour, type Trial, warmUp } from '../trial.ts';

export const scaleDown: Trial = {
  name: 'scale-down',
  title: '60 % of the machines end at once',
  terminatedVisibleMs: hour,
  play,
};

async function play(cluster: TrialCluster): Promise<Findings> {
  const { fleet } = cluster;
  const total = fleet.nodes.length;
  const draws = new Draws(fleet.nodes);
  const early = draws.take(groupSize(cluster));
  const first = draws.take(2);
  const late = draws.take(groupSize(cluster));
  const gone = draws.take(Math.ceil(total * 0.6));
  const removed = gone.filter((_, index) => index % 2 === 0);
  const staying = gone.filter((_, index) => index % 2 === 1);
  await warmUp(cluster, draws);
  giveUp(cluster, early);
  const calmRelease = await untilBalanced(cluster, early);
  await end(cluster, first);
  const calmFarewell = await untilEmpty(cluster, first);
  await fleet.remove(first);

  const used = inUse(fleet.nodes.filter((node) => !gone.includes(node)));
  await end(cluster, gone);
  giveUp(cluster, late);
  const [, release, farewell] = await Promise.all([
    fleet.remove(removed),
    untilBalanced(cluster, late),
    untilEmpty(cluster, staying),
  ]);
  await fleet.remove(staying);
  await untilReadAfter(cluster, 2 * consistencyWindow);

  const reported = await leaseEvents(cluster);
  return {
    story: `${count(gone.length)} of ${count(total)} machines end, ${count(removed.length)} with their CiliumNodes, while others release`,
    addresses: await addressesNow(cluster, used),
    times: [
      { what: `release of ${late.length} nodes that stay`, troubled: release, calm: calmRelease },
      {
        what: `${count(staying.length)} nodes of terminated instances offer nothing, beside ${first.length}`,
        troubled: farewell,
        calm: calmFarewell,
      },
    ],
    sentence: undefined,
    complaints: reported.map((message) => `nothing is held: ${message}`),
  };
}
