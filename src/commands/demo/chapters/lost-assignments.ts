// The calls of clouds with an interface for each set of addresses: what assigns addresses to one, and what creates one.
import type { CloudNetwork } from '../../../simulator/cloud/cloud-network.ts';
import type { Chapter, ChapterContext } from '../chapter.ts';
import { type LosableCalls, lossesOf, lostAnswers, type LossTarget } from './lost-answers.ts';

const assign = 'AssignPrivateIpAddresses';
const create = 'CreateNetworkInterface';

export function lostAssignments(
  context: ChapterContext,
  calls: Pick<LosableCalls, 'cloud' | 'faults' | 'next'> & {
    /** Name of the cloud's API. */
    readonly api: string;
    /** Whether an interface carries pods, and is not in the small subnet. */
    readonly isElsewhere: (place: { readonly zone: string; readonly deviceIndex: number }) => boolean;
  },
): Chapter {
  const { api, isElsewhere } = calls;
  const count = lossesOf(context) === 1 ? `the next ${assign}` : `the next ${assign} of some interfaces`;
  return lostAnswers(context, {
    ...calls,
    action: assign,
    targets: () => targetsIn(context, isElsewhere),
    creation: {
      action: create,
      next: `it is asked again with the same client token, and ${api} names the one it made`,
    },
    hints: [
      `${api} carries out ${count} and the next ${create}, but the answers never arrive.`,
      'Asking again blindly would assign addresses twice. Watch what the controller finds out.',
    ],
  });
}

function targetsIn(
  { cluster: { network, workload } }: ChapterContext,
  isElsewhere: (place: { readonly zone: string; readonly deviceIndex: number }) => boolean,
): readonly LossTarget[] {
  const nodes = new Map(workload.views.map(({ facts, nodeName }) => [facts.instanceId, nodeName]));
  return [...network.interfaces.values()].flatMap(({ id, zone, deviceIndex, instanceId }) => {
    const node = nodes.get(instanceId ?? '');
    if (node === undefined || deviceIndex === undefined || !isElsewhere({ zone, deviceIndex })) return [];
    return [{ name: id, node, match: { NetworkInterfaceId: id }, held: () => secondaryOn(network, id) }];
  });
}

function secondaryOn(network: CloudNetwork, interfaceId: string): readonly string[] {
  const item = network.interfaces.get(interfaceId);
  return item?.addresses.filter((address) => address !== item.primaryAddress) ?? [];
}
