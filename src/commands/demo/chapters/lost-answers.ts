// Chapter about EC2 calls that succeed and whose answers are lost. This is the worst case: a blind retry would repeat
// the effect.
import { textsAt } from '../../../simulator/workload/json.ts';
import type { Chapter, Ec2Context } from '../chapter.ts';
import type { LogLine } from '../controller-process.ts';
import { smallZone } from '../demo-topology.ts';
import { batchPods } from './pods.ts';

/** A call whose answer the controller missed. */
interface Lost {
  readonly node: string;
  readonly interfaceId: string;
  /** What the cloud has held there since. */
  readonly addresses: readonly string[];
  readonly at: number;
}

const assign = 'AssignPrivateIpAddresses';
const create = 'CreateNetworkInterface';

export function lostAnswers(context: Ec2Context): Chapter {
  const { faults } = context.cluster.ec2.gateway;
  const open = new Set<Lost>();
  /** Rule IDs. */
  let assignments: readonly number[] = [];
  let creation: number | undefined;
  const toLose = context.nodes < 10 ? 1 : 3;
  let now = 0;
  let lostAssignments = 0;
  let isCreationReported = false;
  const lose = (action: string, match: Readonly<Record<string, string>>): number => {
    const fault = { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 } as const;
    return faults.add({ action, rate: 1, count: 1, match, fault });
  };
  const met = (ids: readonly (number | undefined)[]): number =>
    faults.rules.filter(({ id }) => ids.includes(id)).reduce((sum, rule) => sum + rule.met, 0);

  return {
    title: 'answers get lost',
    hints: [
      `EC2 carries out the next ${assign} and the next ${create}, but the answers never arrive.`,
      'Asking again blindly would assign addresses twice. Watch what the controller finds out.',
    ],
    longest: 10_000,
    begin: () => {
      assignments = interfacesElsewhere(context).map((id) => lose(assign, { NetworkInterfaceId: id }));
      creation = lose(create, {});
      context.run(batchPods(context.nodes));
    },
    onLogLine: (line) => {
      const lost = readLost(line);
      if (lost === undefined) return;
      open.add({ ...lost, addresses: secondaryOn(context, lost.interfaceId), at: now });
      context.report(
        `LOST the answer to ${assign} for ${lost.node}: the controller asks nothing more of ${lost.interfaceId}, and looks`,
      );
    },
    watch: ({ elapsed }) => {
      now = elapsed;
      if (!isCreationReported && met([creation]) > 0) {
        isCreationReported = true;
        context.report(
          `LOST the answer to ${create}: it is asked again with the same client token, and EC2 names the one it made`,
        );
      }
      for (const lost of open) {
        if (!isShown(context, lost)) continue;
        open.delete(lost);
        context.report(`FOUND: ${verdictOn(context, lost, elapsed)}`);
      }
      if (lostAssignments < toLose) lostAssignments = met(assignments);
      if (lostAssignments < toLose) return 'running';
      for (const id of assignments) faults.remove(id);
      return open.size > 0 || elapsed < 4000 ? 'continues' : 'over';
    },
  };
}

/** All except the small zone, whose nodes have their own chapter. */
function interfacesElsewhere({ cluster }: Ec2Context): readonly string[] {
  return [...cluster.ec2.network.interfaces.values()]
    .filter(({ zone }) => zone !== smallZone.name)
    .map(({ id }) => id);
}

function readLost({ message, details }: LogLine): Pick<Lost, 'node' | 'interfaceId'> | undefined {
  if (message !== 'could not assign addresses' || details['failure'] !== 'unreachable') return undefined;
  return { node: String(details['node']), interfaceId: String(details['interface']) };
}

/** Whether the CiliumNode shows everything that the call added and that was not released since. */
function isShown(context: Ec2Context, { node, interfaceId, addresses }: Lost): boolean {
  const held = new Set(secondaryOn(context, interfaceId));
  const object = context.cluster.kubernetes.get('ciliumnodes.cilium.io', node);
  const shown = new Set(textsAt(object, 'status', 'eni', 'enis', interfaceId, 'addresses'));
  return addresses.every((address) => shown.has(address) || !held.has(address));
}

function verdictOn(context: Ec2Context, { node, interfaceId, addresses, at }: Lost, now: number): string {
  const before = addresses.length;
  const more = secondaryOn(context, interfaceId).length - before;
  const seconds = ((now - at) / 1000).toFixed(1);
  const twice = more > 0 ? `, and ${more} that came since` : ', and none came twice';
  return `${seconds} s later ${node} shows all ${before} addresses of ${interfaceId}${twice}`;
}

/** Pod addresses that the cloud holds there. */
function secondaryOn({ cluster }: Ec2Context, interfaceId: string): readonly string[] {
  const item = cluster.ec2.network.interfaces.get(interfaceId);
  return item?.addresses.filter((address) => address !== item.primaryAddress) ?? [];
}
