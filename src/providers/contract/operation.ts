// Operations on a cloud as plain data, and their outcomes.
import type { CloudFailure } from './cloud-failure.ts';
import type { Tags } from './network-interface.ts';
import type { Answer } from './observation.ts';

export interface CreateInterface {
  readonly kind: 'createInterface';
  readonly instanceId: string;
  readonly subnetId: string;
  readonly securityGroupIds: readonly string[];
  /** Secondary addresses assigned at creation; 0 together with prefixes. */
  readonly addressCount: number;
  /** Prefixes assigned at creation; 0 together with secondary addresses. */
  readonly prefixCount: number;
  /** Whether an IPv6 prefix is assigned at creation, too. */
  readonly ipv6Prefix?: true;
  readonly description: string;
  readonly tags: Tags;
  /** Where it is going to be attached. Some clouds keep it with the interface. */
  readonly deviceIndex: number;
  /** Idempotency token: repeated requests with it create one interface. */
  readonly token: string;
}

export interface AttachInterface {
  readonly kind: 'attachInterface';
  readonly instanceId: string;
  readonly interfaceId: string;
  readonly deviceIndex: number;
}

export interface AllocateIPs {
  readonly kind: 'allocateIPs';
  readonly instanceId: string;
  readonly interfaceId: string;
  readonly count: number;
  /** The most that its interface may have then: a cloud that reads before it assigns may find more than was known. */
  readonly max?: number;
  /** Recognizes the assignment if it is repeated. Set where the cloud's traits say so. */
  readonly operationId?: string;
}

export interface AllocatePrefixes {
  readonly kind: 'allocatePrefixes';
  readonly instanceId: string;
  readonly interfaceId: string;
  /** Number of prefixes. */
  readonly count: number;
}

/** Assigns one IPv6 prefix of /80. A repeated call assigns another one. */
export interface AllocateIpv6Prefix {
  readonly kind: 'allocateIpv6Prefix';
  readonly instanceId: string;
  readonly interfaceId: string;
}

/** Releases secondary addresses to their subnet. */
export interface ReleaseIPs {
  readonly kind: 'releaseIPs';
  readonly instanceId: string;
  readonly interfaceId: string;
  readonly addresses: readonly string[];
}

/** Releases delegated blocks, as `a.b.c.d/28`. */
export interface ReleasePrefixes {
  readonly kind: 'releasePrefixes';
  readonly instanceId: string;
  readonly interfaceId: string;
  readonly prefixes: readonly string[];
}

/** Associates a public address with the primary address of an interface, unless another interface has it. */
export interface AssociateStaticIP {
  readonly kind: 'associateStaticIP';
  readonly instanceId: string;
  readonly interfaceId: string;
  /** The cloud's id of the public address, or of what it is taken from. */
  readonly addressId: string;
  readonly publicAddress: string;
}

export interface SetDeleteOnTermination {
  readonly kind: 'setDeleteOnTermination';
  readonly instanceId: string;
  readonly interfaceId: string;
  readonly attachmentId: string;
}

export interface DetachInterface {
  readonly kind: 'detachInterface';
  readonly instanceId: string;
  readonly interfaceId: string;
  readonly attachmentId: string;
}

export interface DeleteInterface {
  readonly kind: 'deleteInterface';
  readonly interfaceId: string;
}

export type Operation =
  | CreateInterface
  | AttachInterface
  | AllocateIPs
  | AllocatePrefixes
  | AllocateIpv6Prefix
  | ReleaseIPs
  | ReleasePrefixes
  | AssociateStaticIP
  | SetDeleteOnTermination
  | DetachInterface
  | DeleteInterface;

export type OperationKind = Operation['kind'];

export type Outcome =
  | { readonly kind: 'done'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly failure: CloudFailure }
  /** The answer was lost or unreadable: the call may have taken effect, or may still do so. */
  | { readonly kind: 'ambiguous'; readonly failure: CloudFailure };
