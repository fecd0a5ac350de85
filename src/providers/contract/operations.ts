// Operations on a cloud as plain data, what comes of them, and how long they may take.
import type { CloudFailure } from './cloud-failure.ts';
import type { NetworkInterface, Tags } from './network-interface.ts';

/** An interface of an instance. */
export interface OnInterface {
  readonly instanceId: string;
  readonly interfaceId: string;
}

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

export interface AttachInterface extends OnInterface {
  readonly kind: 'attachInterface';
  readonly deviceIndex: number;
}

export interface AllocateIPs extends OnInterface {
  readonly kind: 'allocateIPs';
  readonly count: number;
  /** The most that its interface may have then: a cloud that reads before it assigns may find more than was known. */
  readonly max?: number;
  /** Recognizes the assignment if it is repeated. Set where the cloud's traits say so. */
  readonly operationId?: string;
}

export interface AllocatePrefixes extends OnInterface {
  readonly kind: 'allocatePrefixes';
  /** Number of prefixes. */
  readonly count: number;
}

/** Assigns one IPv6 prefix of /80. A repeated call assigns another one. */
export interface AllocateIpv6Prefix extends OnInterface {
  readonly kind: 'allocateIpv6Prefix';
}

/** Releases secondary addresses to their subnet. */
export interface ReleaseIPs extends OnInterface {
  readonly kind: 'releaseIPs';
  readonly addresses: readonly string[];
}

/** Releases delegated blocks, as `a.b.c.d/28`. */
export interface ReleasePrefixes extends OnInterface {
  readonly kind: 'releasePrefixes';
  readonly prefixes: readonly string[];
}

/** Associates a public address with the primary address of an interface, unless another interface has it. */
export interface AssociateStaticIP extends OnInterface {
  readonly kind: 'associateStaticIP';
  /** The cloud's id of the public address, or of what it is taken from. */
  readonly addressId: string;
  readonly publicAddress: string;
}

export interface SetDeleteOnTermination extends OnInterface {
  readonly kind: 'setDeleteOnTermination';
  readonly attachmentId: string;
}

export interface DetachInterface extends OnInterface {
  readonly kind: 'detachInterface';
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

/** The result of our own call: what is true now. */
export type Answer =
  | { readonly kind: 'created'; readonly interface: NetworkInterface }
  | (OnInterface & {
      readonly kind: 'attached';
      readonly deviceIndex: number;
      readonly attachmentId: string;
      /** The interface in the read that showed it attached, if there was one, and when that was sent, in monotonic ms. */
      readonly shown?: { readonly interface: NetworkInterface; readonly startedAt: number };
    })
  | (OnInterface & {
      readonly kind: 'allocated';
      readonly addresses: readonly string[];
      readonly prefixes: readonly string[];
      readonly ipv6Prefixes?: readonly string[];
    })
  /** `holdings`: addresses or prefixes that the interface no longer has. */
  | (OnInterface & { readonly kind: 'released'; readonly holdings: readonly string[] })
  /**
   * The answer of this call was lost, or that of an earlier one, and this one met a change: the call may have released these,
   * or may still do so. The agent has given them up. `until`: how long the call may still take effect unseen, in monotonic ms.
   */
  | (OnInterface & {
      readonly kind: 'releasing';
      readonly holdings: readonly string[];
      readonly until: number;
    })
  | (OnInterface & { readonly kind: 'staticIPAssociated'; readonly publicAddress: string })
  | (OnInterface & { readonly kind: 'detached' })
  | (OnInterface & { readonly kind: 'deleteOnTerminationSet' })
  /** The cloud no longer knows an interface: it is gone, or will be visible again. */
  | (OnInterface & { readonly kind: 'notFound' })
  | { readonly kind: 'deleted'; readonly interfaceId: string };

export interface CallTiming {
  /** How long to wait for the answer to a call, in ms. */
  readonly callTimeout: number;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
}

/** How long a call whose answer was lost may still take effect unseen, in ms. */
export function mayTakeEffectFor({ callTimeout, consistencyWindow }: CallTiming): number {
  return callTimeout + consistencyWindow;
}

/** In ms. A call that takes something away must end well within a lease. */
const maxFencedTimeout = 5000;

/** Timeout of calls that take something away, in ms; `callTimeout` is that of other calls. */
export function fencedTimeoutOf(callTimeout: number): number {
  return Math.min(callTimeout, maxFencedTimeout);
}
