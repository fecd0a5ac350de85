// Why a node cannot be satisfied: each reason, with a text that says what to do. Which one applies, the callers
// decide. Texts contain no times or counters, so one problem always has the same text.
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import { isUnseen, type InstanceView } from '../../providers/contract/facts.ts';
import type { BindingCap } from '../demand/statistics.ts';

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
  | 'MaxPodsTooHigh'
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
  | 'SecurityGroupsDiffer'
  | 'ExcludedAddressesInUse'
  | 'ReleasedAddressesInUse'
  | 'PodsUnreadable'
  | 'FreeAddressesNotTaken'
  | 'AccessDenied'
  | 'CredentialsExpired'
  | 'CredentialsInvalid'
  | 'ClockWrong'
  | 'Throttled'
  | 'Unreachable'
  | 'InstanceNotRunning'
  | 'CallFailed'
  | 'WriteRefused'
  | 'NoStaticIpMatches'
  | 'StaticIpsTaken'
  | 'StaticIpNotAssociated'
  | 'StaticIpNotSupported'
  | 'NoIpv6Subnet'
  | 'Ipv6PrefixesExhausted'
  | 'Ipv6NotSupported'
  | 'MutationsPaused'
  | 'ConflictingWriter'
  | 'AddressesContested';

/** Space in a subnet ends them. */
export const lackingSpace: ReadonlySet<ConditionReason> = new Set(['SubnetsExhausted', 'SubnetsRefused']);

/** Reasons that only a person ends: one stays told while a try shows whether somebody did. */
export const lastingReasons: ReadonlySet<ConditionReason> = new Set([
  'SubnetsRefused',
  'AccessDenied',
  'CredentialsExpired',
  'CredentialsInvalid',
  'ClockWrong',
]);

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

/** A name in a node that an option does not allow. */
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

export function wrongNetwork(
  expected: string,
  found: string,
  { fields, options }: Pick<CloudWords, 'fields' | 'options'>,
): NodeCondition {
  const { podNetworkId } = options;
  const other = podNetworkId === undefined ? '' : `, or set ${podNetworkId}=${expected} for pods there`;
  return {
    reason: 'NetworkMismatch',
    message: `${fields.networkId} is ${expected} and the cloud shows the instance in ${found}: correct ${fields.networkId}${other}`,
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

/** The cloud attaches no interface to an instance that is not running. `state`: as last seen, which may be older. */
export function stoppedInstance(instanceId: string, state: string | undefined): NodeCondition {
  const found = state === 'stopped' || state === 'stopping' ? `is ${state}` : 'is not running';
  return {
    reason: 'InstanceNotRunning',
    message: `start instance ${instanceId}, or delete its Node: it ${found}, and gets no interface until it runs`,
  };
}
