// Chapter about calls that the cloud carries out and whose answers are lost. This is the worst case: a blind retry would
// repeat the effect.
import type { CloudNetwork } from '../../../simulator/cloud/cloud-network.ts';
import type { Faults } from '../../../simulator/cloud/faults.ts';
import type { CloudName } from '../../../simulator/workload/node-facts.ts';
import type { Chapter, ChapterContext } from '../chapter.ts';
import { shownAddresses } from '../departure-watch.ts';
import { batchPods } from './pods.ts';

interface LosableCalls {
  readonly cloud: CloudName;
  readonly faults: Faults;
  /** The call that adds addresses. */
  readonly action: string;
  /** Targets that may get addresses: none in the small subnet, whose nodes have their own chapter. */
  readonly targets: () => readonly LossTarget[];
  /** The next act of the controller, once an answer is lost. */
  readonly next: (target: LossTarget) => string;
  /** Another call, the first of which loses its answer too, and what happens next. */
  readonly creation?: { readonly action: string; readonly next: string };
  /** Hints on what to watch. */
  readonly hints: readonly string[];
}

export interface LossTarget {
  /** As spectators read it: `eni-1`, `its VM`. */
  readonly name: string;
  readonly node: string;
  /** The parameters by which its calls are known. */
  readonly match: Readonly<Record<string, string>>;
  /** Addresses for pods that the cloud holds there. */
  readonly held: () => readonly string[];
}

/** A target that waits for its call. */
interface Waiting {
  readonly target: LossTarget;
  /** Id of the rule that loses the answer. */
  readonly rule: number;
  readonly before: readonly string[];
}

interface Lost extends Waiting {
  readonly at: number;
  /** The addresses that the target has had since the call. */
  addresses?: readonly string[];
}

/** How many answers get lost. */
export function lossesOf({ nodes }: Pick<ChapterContext, 'nodes'>): number {
  return nodes < 10 ? 1 : 3;
}

export function lostAnswers(context: ChapterContext, calls: LosableCalls): Chapter {
  const { faults, action, creation } = calls;
  const toLose = lossesOf(context);
  const open = new Set<Lost>();
  let waiting: readonly Waiting[] = [];
  let created: number | undefined;
  let lost = 0;
  const lose = (of: string, match: Readonly<Record<string, string>>): number => {
    const fault = { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 } as const;
    return faults.add({ action: of, rate: 1, count: 1, match, fault });
  };
  const isMet = (rule: number): boolean => faults.rules.some(({ id, met }) => id === rule && met > 0);

  const noteCreation = (): void => {
    if (creation === undefined || created === undefined || !isMet(created)) return;
    created = undefined;
    context.report(`LOST the answer to ${creation.action}: ${creation.next}`);
  };
  const noteLosses = (elapsed: number): void => {
    for (const each of waiting.filter(({ rule }) => isMet(rule)).slice(0, toLose - lost)) {
      lost += 1;
      waiting = waiting.filter((other) => other !== each);
      open.add({ ...each, at: elapsed });
      const { target } = each;
      context.report(`LOST the answer to ${action} for ${target.node}: ${calls.next(target)}`);
    }
    if (lost >= toLose) for (const { rule } of waiting) faults.remove(rule);
  };
  const noteFinds = (elapsed: number): void => {
    for (const each of open) {
      const found = findingOf(context, each, { cloud: calls.cloud, now: elapsed });
      if (found === undefined) continue;
      open.delete(each);
      context.report(`FOUND: ${found}`);
    }
  };

  return {
    title: 'answers get lost',
    hints: calls.hints,
    beginChapter: () => {
      waiting = calls
        .targets()
        .map((target) => ({ target, before: target.held(), rule: lose(action, target.match) }));
      if (creation !== undefined) created = lose(creation.action, {});
      context.run(batchPods(context.nodes));
    },
    watch: ({ elapsed }) => {
      noteCreation();
      if (lost < toLose) noteLosses(elapsed);
      noteFinds(elapsed);
      if (lost < toLose) return 'running';
      return open.size > 0 || elapsed < 4000 ? 'continues' : 'over';
    },
  };
}

/** Once the CiliumNode shows everything that the target has had since the call and that was not released since. */
function findingOf(
  { cluster }: ChapterContext,
  lost: Lost,
  { cloud, now }: { readonly cloud: CloudName; readonly now: number },
): string | undefined {
  const { target, before, at } = lost;
  const held = target.held();
  if (held.every((address) => before.includes(address))) return undefined;
  lost.addresses ??= held;
  const object = cluster.kubernetes.get('ciliumnodes.cilium.io', target.node);
  if (object === undefined) return undefined;
  const shown = shownAddresses(object, cluster.workload.view(target.node).protocol, cloud);
  if (!lost.addresses.every((address) => shown.has(address) || !held.includes(address))) return undefined;
  const more = held.length - lost.addresses.length;
  const seconds = ((now - at) / 1000).toFixed(1);
  const twice = more > 0 ? `, and ${more} that came since` : ', and none came twice';
  return `${seconds} s later ${target.node} shows all ${lost.addresses.length} addresses of ${target.name}${twice}`;
}

const assign = 'AssignPrivateIpAddresses';
const create = 'CreateNetworkInterface';

/** Whether an interface carries pods, and is not in the small subnet. */
type IsElsewhere = (place: { readonly zone: string; readonly deviceIndex: number }) => boolean;

/** The calls of clouds with an interface for each set of addresses: what assigns addresses to one, and what creates one. */
export function lostAssignments(
  context: ChapterContext,
  calls: Pick<LosableCalls, 'cloud' | 'faults' | 'next'> & {
    /** Name of the cloud's API. */
    readonly api: string;
    readonly isElsewhere: IsElsewhere;
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
  isElsewhere: IsElsewhere,
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
