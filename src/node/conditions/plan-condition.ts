// The words for administrators about a plan of allocation that cannot serve its node.
import type { SubnetLedger } from '../../providers/catalog/subnet-ledger.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { AllocationPlan, Obstacle, ObstacleOf } from '../allocate/allocation-plan.ts';
import { failureCondition, inOneMessage, isTold, refusalsCondition } from './call-condition.ts';
import { detachingInterfaces } from './interface-condition.ts';
import type { NodeCondition } from './node-condition.ts';

/**
 * Everything that prevents a plan from serving the node; undefined if it may be transient.
 */
export function planCondition(
  { isStuck, obstacle, refusals }: Pick<AllocationPlan, 'isStuck' | 'obstacle' | 'refusals'>,
  words: CloudWords,
  refused?: RefusedSubnets,
): NodeCondition | undefined {
  const told = refusals.filter(isTold);
  const reported = isStuck ? refusalsCondition(told) : [];
  const isClear = obstacle !== undefined && !awaitsCount(obstacle, refused);
  const found = isClear ? [obstacleCondition(obstacle, words, refused), ...reported] : reported;
  const [first] = found;
  if (first === undefined) return undefined;
  return { ...first, message: inOneMessage(found.map(({ message }) => message)) };
}

/** Subnets in which the cloud assigns nothing now, by its own word. */
export interface RefusedSubnets {
  readonly ledger: Pick<SubnetLedger, 'isGone' | 'countedThoughFull' | 'countAwaitedUntil'>;
  /** In monotonic ms. */
  readonly now: number;
}

/** Whether the next count of a subnet shows which is true: that it is full, or what was counted in it before. */
function awaitsCount(obstacle: Obstacle, refused: RefusedSubnets | undefined): boolean {
  if (obstacle.kind !== 'subnetsExhausted' || refused === undefined) return false;
  const { ledger, now } = refused;
  return obstacle.subnetIds.some((id) => ledger.countAwaitedUntil(id, now) > now);
}

export function obstacleCondition(
  obstacle: Obstacle,
  { fields, remedies }: Pick<CloudWords, 'fields' | 'remedies'>,
  refused?: RefusedSubnets,
): NodeCondition {
  switch (obstacle.kind) {
    case 'noInterfaceSlots':
      return {
        reason: 'NoInterfaceSlots',
        message: fullInstance(obstacle, remedies.fullInstance),
      };
    case 'subnetsExhausted':
      return exhaustedSubnets(obstacle, remedies, refused);
    case 'noSubnetMatches':
      return {
        reason: 'NoSubnetMatches',
        message: `nothing matches ${obstacle.wanted}: create or tag a subnet, or correct the node's subnet selection and Headwater's subnet filters${hiddenTags(obstacle, remedies)}`,
      };
    case 'noSecurityGroupMatches':
      return {
        reason: 'NoSecurityGroupMatches',
        message: `no security group of the node's network carries the tags ${obstacle.wanted}: tag one, or correct ${fields.securityGroupTags}`,
      };
    case 'securityGroupsUnknown':
      return {
        reason: 'SecurityGroupsUnknown',
        message: `the node names no security groups, and its first interface shows none of ${obstacle.networkId}: set ${fields.securityGroupIds} or ${fields.securityGroupTags}`,
      };
    default:
      return brokenCondition(obstacle);
  }
}

/** The exclusion of most interfaces comes first: a larger instance would not help. */
function fullInstance({ interfaces, below }: ObstacleOf<'noInterfaceSlots'>, remedy: string): string {
  const all = `every one of the instance's ${interfaces} interfaces is full or excluded`;
  if (below === undefined) return `${all}: ${remedy}, or fewer pods on the node`;
  const { count, firstInterfaceIndex } = below;
  return `${all}, ${count} of them because first-interface-index is ${firstInterfaceIndex}: lower it, or ${remedy}, or fewer pods on the node`;
}

/** Something that only the cloud can repair. */
function brokenCondition(
  obstacle: ObstacleOf<
    'interfacesUnreadable' | 'interfacesFailed' | 'interfacesDetaching' | 'networkUnreadable'
  >,
): NodeCondition {
  switch (obstacle.kind) {
    case 'interfacesUnreadable':
      return {
        reason: 'InterfaceUnreadable',
        message: `repair ${obstacle.interfaces.map(({ id }) => id).join(', ')} in the cloud, which cannot be read and gets no addresses, or free addresses on the others, which are full or excluded: ${obstacle.interfaces[0]?.problem ?? ''}`,
      };
    case 'interfacesFailed':
      return {
        reason: 'InterfaceFailed',
        message: `the last update of ${obstacle.interfaceIds.join(', ')} failed in the cloud: repair or update the interface there, which Headwater then uses again`,
      };
    case 'interfacesDetaching':
      return detachingInterfaces(obstacle.interfaceIds, 'serve the node');
    case 'networkUnreadable':
      return { reason: 'NetworkUnreadable', message: failureCondition(obstacle.failure).message };
  }
}

/** Where the cloud counts addresses as free in a subnet that it calls full, its own count says that more space is no remedy. */
function exhaustedSubnets(
  obstacle: ObstacleOf<'subnetsExhausted'>,
  remedies: CloudWords['remedies'],
  refused: RefusedSubnets | undefined,
): NodeCondition {
  const { subnetIds, selection } = obstacle;
  const { ledger, now = 0 } = refused ?? {};
  const gone = subnetIds.filter((id) => ledger?.isGone(id, now) === true);
  const full = subnetIds.filter((id) => !gone.includes(id));
  const counted = full.filter((id) => (ledger?.countedThoughFull(id, now) ?? 0) > 0);
  const empty = full.filter((id) => !counted.includes(id));
  const by = selection === undefined ? '' : ` (${selection})`;
  const parts = [
    ...(empty.length > 0 ? [`no address is left in ${empty.join(', ')}${by}`] : []),
    ...(counted.length > 0
      ? [`the cloud calls ${counted.join(', ')} full, although it counts free addresses there`]
      : []),
    ...(gone.length > 0 ? [`subnet ${gone.join(', ')} does not exist`] : []),
  ];
  const ways = [
    ...(counted.length > 0 ? ['find what holds the free addresses back, such as a reservation'] : []),
    ...(counted.length < subnetIds.length ? [remedies.fullSubnets] : []),
  ];
  return {
    reason: counted.length > 0 ? 'SubnetsRefused' : 'SubnetsExhausted',
    message: `${parts.join(', and ')}: ${ways.join(', or ')}${hiddenTags(obstacle, remedies)}`,
  };
}

/** The subnets that may have been meant, and how to name them; empty where there are none. */
function hiddenTags(
  { untagged = [] }: ObstacleOf<'subnetsExhausted' | 'noSubnetMatches'>,
  { hiddenTags: remedy }: CloudWords['remedies'],
): string {
  return untagged.length === 0 || remedy === undefined
    ? ''
    : `; no tags are shown of ${untagged.slice(0, 5).join(', ')}: ${remedy}`;
}
