// The purpose and the subject of a change in a cloud, for the audit of changes: which node, why, and which things it names.
import type { Answer, Operation } from './operations.ts';
import { isPressing, type Priority } from './priority.ts';

export const changeReasons = {
  pods: 'pods of the node wait for addresses, or its agent cannot start without one',
  watermark: 'the node has fewer free addresses than its watermarks ask for',
  ipv6: 'the agent of the node asks for IPv6',
  release: 'the node has more free addresses than its watermarks keep, and its agent agreed',
  idleInterface: 'the interface carried no pods for a long time',
  failedAttach: 'a new interface could not be attached',
  orphan: 'the interface was left behind, and no instance has it',
  staticIp: 'the node asks for a public address',
  deleteOnTermination: 'the interface has to go with its instance',
  podCidr: 'the instance has to route the pod CIDR of its Node',
} as const;

export type ChangeReason = keyof typeof changeReasons;

/** Ids as the cloud has them. Members that are unknown or do not apply are absent. */
export interface ChangeSubject {
  readonly interface?: string;
  readonly subnet?: string;
  readonly addresses?: readonly string[];
  readonly prefixes?: readonly string[];
  readonly publicAddress?: string;
  /** How many addresses or prefixes are asked for. */
  readonly count?: number;
}

/** A change under way. Its calls share this object. */
export interface Change {
  readonly operation: Operation | AliasAddition;
  /** The caller's when it began: what the node needs may change until it ends. */
  readonly priority: Priority;
  /** The things that the call names, where it carries out more or less than the operation: whoever sends it says so just before. */
  subjects?: readonly ChangeSubject[];
}

/** A block that a cloud is to route to an instance. */
export interface AliasAddition {
  readonly kind: 'addAlias';
  readonly instanceId: string;
  readonly cidr: string;
}

export interface ChangePurpose {
  readonly operation: Change['operation']['kind'];
  readonly why: ChangeReason;
  readonly node: string | undefined;
  readonly instance: string | undefined;
  readonly subjects: readonly ChangeSubject[];
}

/** The beneficiary of a call, as its context names it. */
interface Beneficiary {
  readonly node?: { readonly name: string; readonly instanceId: string };
  readonly instanceId?: string;
}

export function purposeOf(
  { operation, priority, subjects = [subjectOf(operation)] }: Change,
  context: Beneficiary,
): ChangePurpose {
  const { node, instanceId } = context;
  return {
    operation: operation.kind,
    why: reasonOf(operation.kind, priority, context),
    node: node?.name,
    instance: 'instanceId' in operation ? operation.instanceId : (node?.instanceId ?? instanceId),
    subjects,
  };
}

/** Reasons that follow from the kind of the operation alone. */
const reasonsOfKinds = {
  allocateIpv6Prefix: 'ipv6',
  releaseIPs: 'release',
  releasePrefixes: 'release',
  associateStaticIP: 'staticIp',
  setDeleteOnTermination: 'deleteOnTermination',
  detachInterface: 'idleInterface',
  addAlias: 'podCidr',
} as const satisfies Partial<Record<Change['operation']['kind'], ChangeReason>>;

function reasonOf(
  kind: Change['operation']['kind'],
  priority: Priority,
  { node }: Beneficiary,
): ChangeReason {
  if (kind in reasonsOfKinds) return reasonsOfKinds[kind as keyof typeof reasonsOfKinds];
  if (kind !== 'deleteInterface') return isPressing(priority) ? 'pods' : 'watermark';
  if (node === undefined) return 'orphan';
  return priority === 'housekeeping' ? 'idleInterface' : 'failedAttach';
}

function subjectOf(operation: Change['operation']): ChangeSubject {
  switch (operation.kind) {
    case 'createInterface': {
      const { subnetId: subnet, addressCount, prefixCount, ipv6Prefix } = operation;
      return { subnet, count: addressCount + prefixCount + (ipv6Prefix === true ? 1 : 0) };
    }
    case 'allocateIPs':
    case 'allocatePrefixes':
      return { interface: operation.interfaceId, count: operation.count };
    case 'allocateIpv6Prefix':
      return { interface: operation.interfaceId, count: 1 };
    case 'releaseIPs':
      return { interface: operation.interfaceId, addresses: operation.addresses };
    case 'releasePrefixes':
      return { interface: operation.interfaceId, prefixes: operation.prefixes };
    case 'addAlias':
      return { prefixes: [operation.cidr] };
    case 'associateStaticIP':
      return { interface: operation.interfaceId, publicAddress: operation.publicAddress };
    default:
      return { interface: operation.interfaceId };
  }
}

/** The thing that was changed, as the answer shows it; undefined if no more than the request named. */
export function subjectIn(answer: Answer): ChangeSubject | undefined {
  switch (answer.kind) {
    case 'created': {
      const { id, subnetId: subnet, primaryAddress, addresses, prefixes } = answer.interface;
      const all = [...new Set([primaryAddress, ...addresses])];
      return {
        interface: id,
        subnet,
        addresses: all,
        prefixes: [...prefixes, ...(answer.interface.ipv6Prefixes ?? [])],
      };
    }
    case 'allocated': {
      const { interfaceId, addresses, prefixes, ipv6Prefixes = [] } = answer;
      return { interface: interfaceId, addresses, prefixes: [...prefixes, ...ipv6Prefixes] };
    }
    default:
      return undefined;
  }
}
