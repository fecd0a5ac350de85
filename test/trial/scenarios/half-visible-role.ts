// Replaces the leader by one whose role sees four in ten instances; later by degrees all instances, and of a few no interface.
import type { ControllerProcess } from '../../../rig/controller-process.ts';
import { addressesNow, count, type Findings, inUse } from '../findings.ts';
import { consistencyWindow, type TrialCluster } from '../rig/trial-cluster.ts';
import type { TrialNode } from '../rig/trial-node.ts';
import { askForMore, end, giveUp, untilBalanced, untilEmpty, untilReadAfter } from '../rig/works.ts';
import { untilReady, untilLeaseEvent } from '../reported.ts';
import { Draws, groupSize, hour, type Trial } from '../trial.ts';

/** Fewer than the brake holds: only the rule about addresses in use keeps them. */
const withoutInterfaces = 2;
const advice = "shows no interface: check Headwater's region, account and role";

export const halfVisibleRole: Trial = {
  name: 'half-visible-role',
  title: 'a new leader sees 40 % of the instances, then all, but no interface of a few',
  terminatedVisibleMs: hour,
  play,
};

async function play(cluster: TrialCluster, first: ControllerProcess): Promise<Findings> {
  const { fleet, veil } = cluster;
  const total = fleet.nodes.length;
  const hidden = new Set(fleet.nodes.slice(0, Math.ceil(total * 0.6)));
  const draws = new Draws(fleet.nodes.filter((node) => !hidden.has(node)));
  const few = draws.take(withoutInterfaces);
  await first.child.stop();
  const calm = await growUnderNewLeader(cluster, draws.take(groupSize(cluster)));
  const calmFarewell = await sayFarewell(cluster, draws.take(2));
  giveUp(cluster, calm.nodes);
  const calmRelease = await untilBalanced(cluster, calm.nodes);
  await calm.controller.child.stop();

  const used = inUse(fleet.nodes);
  const [all, shown] = [fleet.nodes.length, fleet.nodes.length - hidden.size];
  const hiddenIds = idsOf(hidden);
  veil.wear({ instance: (id) => hiddenIds.has(id) });
  const troubled = await growUnderNewLeader(cluster, draws.take(groupSize(cluster)));
  const { controller } = troubled;
  const sentence = await untilLeaseEvent(cluster);
  const farewell = await sayFarewell(cluster, draws.take(2));
  await untilReadAfter(cluster, 4 * consistencyWindow);
  const fewIds = idsOf(few);
  veil.wear({ networkInterface: (id) => fewIds.has(id) });
  await untilReady(cluster, controller);
  await cluster.until(`the few say: ${advice}`, () =>
    few.every(({ shown }) => shown?.error.includes(advice) ?? false),
  );
  await untilReadAfter(cluster, 4 * consistencyWindow);
  veil.wear({});
  giveUp(cluster, troubled.nodes);
  const release = await untilBalanced(cluster, troubled.nodes);
  await cluster.until('the few are served again', () => few.every(({ shown }) => shown?.error === ''));

  const expected = `only ${count(shown)} of the ${count(all)} instances of vpc-`;
  return {
    story: `${count(all)} nodes, of which a new leader sees ${count(shown)}; then all, but no interface of ${few.length}`,
    addresses: await addressesNow(cluster, used),
    times: [
      {
        what: 'growth of what is shown, from the start of a leader',
        troubled: troubled.seconds,
        calm: calm.seconds,
      },
      { what: 'a terminated instance offers nothing', troubled: farewell, calm: calmFarewell },
      { what: 'release once all is shown', troubled: release, calm: calmRelease },
    ],
    sentence,
    complaints: sentence.startsWith(expected) ? [] : [`the sentence begins: ${expected}`],
  };
}

/** From its start on. */
async function growUnderNewLeader(cluster: TrialCluster, nodes: readonly TrialNode[]): Promise<Grown> {
  askForMore(cluster, nodes);
  const controller = await cluster.startController();
  return { controller, nodes, seconds: await untilBalanced(cluster, nodes) };
}

interface Grown {
  readonly controller: ControllerProcess;
  readonly nodes: readonly TrialNode[];
  readonly seconds: number;
}

async function sayFarewell(cluster: TrialCluster, nodes: readonly TrialNode[]): Promise<number> {
  await end(cluster, nodes);
  const seconds = await untilEmpty(cluster, nodes);
  await cluster.fleet.remove(nodes);
  return seconds;
}

function idsOf(nodes: Iterable<TrialNode>): ReadonlySet<string> {
  return new Set([...nodes].map(({ facts }) => facts.instanceId));
}
