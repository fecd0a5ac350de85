// Says when a node is tried next, and what would bring that forward. Pure.
import { type PauseReason, pauseWords } from '../../providers/gate/mutation-permission.ts';
import type { AllocationPlan, Obstacle } from '../allocate/allocation-plan.ts';
import { isShared } from '../allocate/refused-scope.ts';
import type { Assessment } from './assessment.ts';
import type { ConditionReason, NodeCondition } from './node-condition.ts';

export interface NextTry {
  /** In monotonic ms; absent if no time decides. */
  readonly at?: number;
  /** The event that is awaited, in words. */
  readonly what: string;
  /** Events that bring it forward. */
  readonly sooner: readonly string[];
}

export interface Attempts {
  readonly assessment: Assessment;
  /** Undefined while the node is not served. */
  readonly plan: AllocationPlan | undefined;
  /** Why the node cannot be satisfied. */
  readonly condition: NodeCondition | undefined;
  /** Why nothing may be allocated. */
  readonly pause: PauseReason | undefined;
  /** Steps whose calls are in flight, and those that wait for the rate limits. */
  readonly steps: { readonly inFlight: number; readonly waiting: number };
  /** Until when nothing is tried after failures, in monotonic ms. */
  readonly pausedUntil: number;
  /** When something that was refused may be tried again, in monotonic ms. */
  readonly refusedUntil: number | undefined;
  /** When the first of the exhausted subnets may be asked again, in monotonic ms. */
  readonly subnetsBackAt: number | undefined;
  readonly now: number;
}

/** Nothing is tried for a node that is not served. */
export const unservedNext: NextTry = {
  what: 'its CiliumNode, its Node or its instance changes',
  sooner: [],
};

export function nextTry(facts: Attempts): NextTry {
  const { assessment, condition } = facts;
  const ofReason = condition && byReason[condition.reason];
  if (ofReason !== undefined) return on(ofReason);
  if (assessment.kind === 'unread') return on('the cloud answers for its instance');
  if (assessment.kind !== 'served') return unservedNext;
  if (assessment.toAllocate > 0 || assessment.ipv6 === 'missing') return ofDeficit(facts);
  if (assessment.wanted > 0) return on('the cloud shows what is on its way');
  if (assessment.cap !== undefined) return on('its limit rises, or pods end');
  return on('it wants something', 'pods that start or wait', 'higher watermarks');
}

/** Reasons that no try of the node itself ends. */
const byReason: Readonly<Partial<Record<ConditionReason, string>>> = {
  InstanceTypeUnreadable: 'the limits of its instance type are read',
  WriteRefused: 'the API server accepts the write of its CiliumNode',
};

function on(what: string, ...sooner: readonly string[]): NextTry {
  return { what, sooner };
}

function ofDeficit(facts: Attempts): NextTry {
  const { pause, steps, pausedUntil, plan, now } = facts;
  if (pause !== undefined) return on(`the pause ends: ${pauseWords[pause]}`);
  if (steps.inFlight > 0) return on('the call under way ends');
  if (steps.waiting > 0) return on('the rate limits allow its call', 'pods that wait raise its priority');
  if (pausedUntil > now) return { at: pausedUntil, ...on('its back-off ends') };
  return plan === undefined ? on('what it depends on changes') : ofPlan(plan, facts);
}

function ofPlan({ obstacle, refusals, ipv6 }: AllocationPlan, facts: Attempts): NextTry {
  const { refusedUntil: at } = facts;
  if (obstacle?.kind === 'subnetsExhausted') return ofFullSubnets(facts);
  if (obstacle !== undefined) return byObstacle[obstacle.kind];
  if (at !== undefined)
    return { at, what: 'what the cloud refused may be tried again', sooner: soonerThan(refusals) };
  return ipv6 === undefined ? on('what it depends on changes') : networkRead;
}

function soonerThan(refusals: AllocationPlan['refusals']): readonly string[] {
  const isOfSubnet = refusals.some(({ scope }) => 'subnetId' in scope);
  return [
    ...(refusals.some(({ scope }) => isShared(scope)) ? ['another node that is served'] : []),
    ...(isOfSubnet ? ['another subnet that its selection names'] : []),
  ];
}

const networkRead = on('the network is read again, each minute', 'a change of its CiliumNode');
const repair = on('the cloud shows the interface repaired');

const byObstacle: Readonly<Record<Exclude<Obstacle['kind'], 'subnetsExhausted'>, NextTry>> = {
  noInterfaceSlots: on('an interface has room', 'addresses or interfaces that leave the instance'),
  noSubnetMatches: networkRead,
  noSecurityGroupMatches: networkRead,
  networkUnreadable: networkRead,
  securityGroupsUnknown: unservedNext,
  interfacesUnreadable: repair,
  interfacesFailed: repair,
  interfacesDetaching: on('the cloud shows the end of the detachment'),
};

function ofFullSubnets({ subnetsBackAt: at, now }: Attempts): NextTry {
  const sooner = ['addresses released to one of these subnets', 'another subnet that its selection names'];
  return at !== undefined && at > now
    ? { at, what: 'a full subnet may be asked again', sooner }
    : { what: 'the free addresses are counted again, each minute', sooner };
}
