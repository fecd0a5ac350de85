// Why a node cannot be satisfied: each reason, with a text that says what to do. Which one applies, the callers
// decide. Texts contain no times or counters, so one problem always has the same text.
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { isWorthReporting, policyOf } from '../../providers/contract/failure-policy.ts';
import { isUnseen, type InstanceView } from '../../providers/contract/instance-view.ts';
import type { BindingCap } from '../demand/statistics.ts';
import type { Obstacle, ObstacleOf } from '../allocate/plan-obstacles.ts';
import type { AllocationPlan } from '../allocate/prepare-ip-allocation.ts';
import { describeScope } from '../allocate/refused-scope.ts';
import { isOfThing, type ScopeRefusal } from '../allocate/blocked-resources.ts';

export interface NodeCondition {
  /** Stable name: metric label and Event reason. */
  readonly reason: ConditionReason;
  readonly message: string;
  /** How many addresses it concerns, if counted: for the log and /status, never in the text. */
  readonly addresses?: number;
}

export type ConditionReason =
  | 'NodeUnreadable'
  | 'DuplicateInstance'
  | 'InstanceMismatch'
  | 'InstanceOfAnother'
  | 'NodeMissing'
  | 'OutsideNetwork'
  | 'NetworkMismatch'
  | 'InstanceNotManaged'
  | 'InstanceNotFound'
  | 'InstanceTerminated'
  | 'InstanceTypeUnknown'
  | 'InstanceTypeUnreadable'
  | 'NoInterfaceSlots'
  | 'InstanceFull'
  | 'MaxAllocateReached'
  | 'AgentCannotStart'
  | 'AgentProtocolUnsupported'
  | 'SubnetsExhausted'
  | 'SubnetsRefused'
  | 'NoSubnetMatches'
  | 'NoSecurityGroupMatches'
  | 'SecurityGroupsUnknown'
  | 'NetworkUnreadable'
  | 'InterfaceUnreadable'
  | 'InterfaceNameUnknown'
  | 'InterfaceFailed'
  | 'InterfaceChanging'
  | 'InterfaceNotShown'
  | 'ExcludedAddressesInUse'
  | 'ReleasedAddressesInUse'
  | 'PodsUnreadable'
  | 'FreeAddressesNotTaken'
  | 'AccessDenied'
  | 'CredentialsExpired'
  | 'CredentialsInvalid'
  | 'Throttled'
  | 'Unreachable'
  | 'InstanceNotRunning'
  | 'CallFailed'
  | 'WriteRefused'
  | 'NoStaticIpMatches'
  | 'StaticIpsTaken'
  | 'StaticIpNotAssociated'
  | 'StaticIpNotSupported'
  | 'MutationsPaused'
  | 'ConflictingWriter'
  | 'AddressesContested';

/** Where the user finds what to correct. */
type Fields = CloudWords['fields'];
type OptionNames = CloudWords['options'];

/** Many texts contain agent input. It must not fill logs, and control characters could forge log lines. */
const maxTextCharacters = 1000;

/** The condition with its text bounded and without control characters. */
export function presentable(condition: NodeCondition): NodeCondition {
  const plain = condition.message.slice(0, maxTextCharacters + 1).replaceAll(/\p{C}/gu, '\u{fffd}');
  return {
    ...condition,
    message: plain.length > maxTextCharacters ? `${plain.slice(0, maxTextCharacters)}…` : plain,
  };
}

/** What a node names instead of what an option allows. */
export interface OutsideScope {
  readonly option: string;
  readonly allowed: string;
  readonly named: string;
}

export function outsideNetwork({ named, option, allowed }: OutsideScope): NodeCondition {
  return {
    reason: 'OutsideNetwork',
    message: `the node is in ${named} and ${option} restricts Headwater to ${allowed}`,
  };
}

export function wrongNetwork(expected: string, found: string, fields: Fields): NodeCondition {
  return {
    reason: 'NetworkMismatch',
    message: `${fields.networkId} is ${expected} and the cloud shows the instance in ${found}: correct ${fields.networkId}`,
  };
}

export function unnamedInterface(
  instanceId: string,
  { interfaceName, names }: { readonly interfaceName: string; readonly names: readonly string[] },
  { interfaceName: field }: Fields,
): NodeCondition {
  return {
    reason: 'InterfaceNameUnknown',
    message: `${field ?? 'the interface name'} is ${interfaceName}, and instance ${instanceId} has no such interface: name one of ${names.join(', ')}`,
  };
}

export function unmanagedInstance(instanceId: string, options: OptionNames): NodeCondition {
  return {
    reason: 'InstanceNotManaged',
    message: `instance ${instanceId} ${options.exclusion}`,
  };
}

export function unknownInstanceType(instanceType: string, fields: Fields): NodeCondition {
  return {
    reason: 'InstanceTypeUnknown',
    message: `the cloud knows no instance type ${JSON.stringify(instanceType)}: correct ${fields.instanceType}`,
  };
}

export function unreadableLimits(instanceType: string, problem: string): NodeCondition {
  return {
    reason: 'InstanceTypeUnreadable',
    message: `the limits of instance type ${instanceType} cannot be read: ${problem}; Headwater retries`,
  };
}

export function deniedLimits(failure: CloudFailure): NodeCondition {
  return { reason: 'InstanceTypeUnreadable', message: failureCondition(failure).message };
}

/** A condition from the instance's own state in the cloud; undefined if it can be served. */
export function instanceCondition(view: InstanceView, { remedies }: CloudWords): NodeCondition | undefined {
  if (view.presence === 'terminated') {
    return {
      reason: 'InstanceTerminated',
      message: `instance ${view.id} is terminated: delete the Node and its CiliumNode, unless a new instance takes the name over`,
    };
  }
  if (!isUnseen(view) && view.interfaces.length > 0) return undefined;
  const [unreadable] = view.unreadable;
  if (unreadable !== undefined) {
    return {
      reason: 'InterfaceUnreadable',
      message: `no interface of instance ${view.id} can be read; of ${unreadable.id}: ${unreadable.problem}`,
    };
  }
  const state = view.instance?.state ?? 'unknown';
  const found =
    view.presence === 'notFound' || state === 'unknown'
      ? 'is not found'
      : `is ${state} and shows no interface`;
  return {
    reason: 'InstanceNotFound',
    message: `instance ${view.id} ${found}: ${remedies.unseenInstance}, and spec.instance-id; delete the CiliumNode only if the Kubernetes Node is gone too`,
  };
}

/**
 * Everything that prevents a plan from serving the node; undefined if it may be transient.
 */
export function planCondition(
  { isStuck, obstacle, refusals }: Pick<AllocationPlan, 'isStuck' | 'obstacle' | 'refusals'>,
  words: CloudWords,
  refused?: RefusedSubnets,
): NodeCondition | undefined {
  const told = refusals.filter((refusal) =>
    isGuess(refusal) ? refusal.failures > 1 : isWorthReporting(refusal.failure, refusal.failures),
  );
  const reported = isStuck ? told.map(refusalCondition) : [];
  const found =
    obstacle === undefined ? reported : [obstacleCondition(obstacle, words, refused), ...reported];
  const [first] = found;
  if (first === undefined) return undefined;
  return { ...first, message: [...new Set(found.map(({ message }) => message))].join('; and ') };
}

/** The answer is about another instance, and nothing says that it holds for this one. */
function isGuess({ failure, isOfOthers }: ScopeRefusal): boolean {
  return isOfOthers && isOfThing(failure);
}

function refusalCondition(refusal: ScopeRefusal): NodeCondition {
  const { scope, failure } = refusal;
  if (isGuess(refusal)) {
    const message = `${failure.action} was refused to other nodes with ${failure.code}, which say why: this node tries it in its turn`;
    return { reason: 'CallFailed', message };
  }
  const { reason, message } = failureCondition(failure);
  return { reason, message: `${isOfEveryCall(failure) ? '' : describeScope(scope)}${message}` };
}

/** What the cloud says of subnets in which it assigns nothing. */
export interface RefusedSubnets {
  readonly isGone: (subnetId: string) => boolean;
  /** How many free addresses the cloud counts in a subnet that it calls full; 0 for others. */
  readonly countedIn: (subnetId: string) => number;
}

const nothingRefused: RefusedSubnets = { isGone: () => false, countedIn: () => 0 };

export function obstacleCondition(
  obstacle: Obstacle,
  { fields, remedies }: CloudWords,
  refused = nothingRefused,
): NodeCondition {
  switch (obstacle.kind) {
    case 'noInterfaceSlots':
      return {
        reason: 'NoInterfaceSlots',
        message: `every one of the instance's ${obstacle.interfaces} interfaces is full or excluded: ${remedies.fullInstance}, or fewer pods on the node`,
      };
    case 'subnetsExhausted':
      return exhaustedSubnets(obstacle.subnetIds, remedies.fullSubnets, refused);
    case 'noSubnetMatches':
      return {
        reason: 'NoSubnetMatches',
        message: `nothing matches ${obstacle.wanted}: create or tag a subnet, or correct the node's subnet selection and Headwater's subnet filters`,
      };
    case 'noSecurityGroupMatches':
      return {
        reason: 'NoSecurityGroupMatches',
        message: `no security group of the node's network carries the tags ${obstacle.wanted}: tag one, or correct ${fields.securityGroupTags}`,
      };
    case 'securityGroupsUnknown':
      return {
        reason: 'SecurityGroupsUnknown',
        message: `the node names no security groups and those of its first interface are not known: set ${fields.securityGroupIds}`,
      };
    default:
      return brokenCondition(obstacle);
  }
}

/** Something that only the cloud can repair. */
function brokenCondition(
  obstacle: ObstacleOf<'interfacesUnreadable' | 'interfacesFailed' | 'networkUnreadable'>,
): NodeCondition {
  switch (obstacle.kind) {
    case 'interfacesUnreadable':
      return {
        reason: 'InterfaceUnreadable',
        message: `repair ${obstacle.interfaces.map(({ id }) => id).join(', ')} in the cloud, which cannot be read and is not used, or free addresses on the others, which are full or excluded: ${obstacle.interfaces[0]?.problem ?? ''}`,
      };
    case 'interfacesFailed':
      return {
        reason: 'InterfaceFailed',
        message: `the last update of ${obstacle.interfaceIds.join(', ')} failed in the cloud: repair or update the interface there, which Headwater then uses again`,
      };
    case 'networkUnreadable':
      return { reason: 'NetworkUnreadable', message: failureCondition(obstacle.failure).message };
  }
}

/** Where the cloud counts addresses as free in a subnet that it calls full, its own count says that more space is no remedy. */
function exhaustedSubnets(
  subnetIds: readonly string[],
  remedy: string,
  { isGone, countedIn }: RefusedSubnets,
): NodeCondition {
  const gone = subnetIds.filter(isGone);
  const full = subnetIds.filter((id) => !isGone(id));
  const counted = full.filter((id) => countedIn(id) > 0);
  const empty = full.filter((id) => countedIn(id) === 0);
  const parts = [
    ...(empty.length > 0 ? [`no address is left in ${empty.join(', ')}`] : []),
    ...(counted.length > 0
      ? [`the cloud calls ${counted.join(', ')} full, although it counts free addresses there`]
      : []),
    ...(gone.length > 0 ? [`subnet ${gone.join(', ')} does not exist`] : []),
  ];
  const remedies = [
    ...(counted.length > 0 ? ['find what holds the free addresses back, such as a reservation'] : []),
    ...(counted.length < subnetIds.length ? [remedy] : []),
  ];
  return {
    reason: counted.length > 0 ? 'SubnetsRefused' : 'SubnetsExhausted',
    message: `${parts.join(', and ')}: ${remedies.join(', or ')}`,
  };
}

/** Pods wait and the node is at its limit of `max` addresses. */
export function capCondition(
  cap: BindingCap,
  { max, instanceType }: { readonly max: number; readonly instanceType: string },
  { remedies }: CloudWords,
): NodeCondition {
  return cap === 'instance'
    ? {
        reason: 'InstanceFull',
        message: `pods wait for addresses, and ${instanceOf(instanceType)} can have no more than the ${max} that the node has: ${remedies.fullInstance}, or fewer pods on the node`,
      }
    : {
        reason: 'MaxAllocateReached',
        message: `pods wait for addresses, and spec.ipam.max-allocate ${max} allows no more: raise ipam-max-allocate of Cilium's agent, which writes it, or put fewer pods on the node`,
      };
}

/** Clouds in which the type decides nothing name none. */
export function instanceOf(instanceType: string): string {
  return instanceType === '' ? 'the instance' : `instance type ${instanceType}`;
}

/** The remedy comes first, because the cloud's message can be long. */
export function failureCondition(failure: CloudFailure): NodeCondition {
  const remedy = remedyFor(failure);
  const who = isOfEveryCall(failure) ? 'the cloud' : failure.action;
  const said = `${who} answers ${failure.code}: ${failure.message}`;
  return { reason: reasonFor(failure), message: remedy === undefined ? said : `${remedy}: ${said}` };
}

/**
 * Whether the identity, the account or the region is refused: each call fails alike, and the text stays the same whichever
 * failed last.
 */
function isOfEveryCall(failure: CloudFailure): boolean {
  if (failure.credentials !== undefined) return true;
  const isOfAction = failure.about === 'action' && failure.permission === undefined;
  return isOfAction && policyOf(failure).refuses === 'caller';
}

/** Credentials first: the kind of their failures also covers a missing permission, which others correct. */
function reasonFor({ kind, credentials }: CloudFailure): ConditionReason {
  if (credentials !== undefined)
    return credentials === 'expired' ? 'CredentialsExpired' : 'CredentialsInvalid';
  return failureReasons[kind] ?? 'CallFailed';
}

const failureReasons: Partial<Record<CloudFailure['kind'], ConditionReason>> = {
  notAuthorized: 'AccessDenied',
  throttled: 'Throttled',
  unreachable: 'Unreachable',
  instanceNotRunning: 'InstanceNotRunning',
};

/** Space in a subnet ends them. */
export const lackingSpace: ReadonlySet<ConditionReason> = new Set(['SubnetsExhausted', 'SubnetsRefused']);

/** What only a person ends: it stays told while a try shows whether somebody did. */
export const lastingReasons: ReadonlySet<ConditionReason> = new Set([
  'SubnetsRefused',
  'AccessDenied',
  'CredentialsExpired',
  'CredentialsInvalid',
]);

/** What a person can do about it; undefined if the failure itself says everything known. */
export function remedyFor({
  kind,
  permission,
  deniedBy,
  credentials,
  remedy,
}: CloudFailure): string | undefined {
  if (deniedBy !== undefined) return `change the ${deniedBy} that denies ${permission} to Headwater's role`;
  if (permission !== undefined) return `allow ${permission} to Headwater's role`;
  if (credentials === 'expired') return "renew Headwater's credentials, or set its clock";
  return remedy ?? remedies[kind];
}

/** The cloud attaches no interface to an instance that is not running. `state`: as last seen, which may be older. */
export function stoppedInstance(instanceId: string, state: string | undefined): NodeCondition {
  const found = state === 'stopped' || state === 'stopping' ? `is ${state}` : 'is not running';
  return {
    reason: 'InstanceNotRunning',
    message: `start instance ${instanceId}, or delete its Node: it ${found}, and gets no interface until it runs`,
  };
}

const remedies: Partial<Record<CloudFailure['kind'], string>> = {
  throttled: "the account's rate limit for this call is used up; Headwater retries",
  limitReached: 'raise the quota, or wait until interfaces or addresses are released',
  instanceNotRunning: 'the instance must be running to get interfaces',
  notAuthorized: 'check the credentials that Headwater uses',
  unreachable: 'check the network path and the endpoint',
};
