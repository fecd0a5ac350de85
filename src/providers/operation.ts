// What can be done to a cloud, as plain data, and what comes of it.
import type { CloudFailure } from './cloud-failure.ts';
import type { Tags } from './network-interface.ts';
import type { Answer } from './observation.ts';

export interface CreateInterface {
  readonly kind: 'createInterface';
  readonly instanceId: string;
  readonly subnetId: string;
  readonly securityGroupIds: readonly string[];
  /** Secondary addresses that it is to have from the start; none beside prefixes. */
  readonly addressCount: number;
  /** Prefixes that it is to have from the start; none beside secondary addresses. */
  readonly prefixCount: number;
  readonly description: string;
  readonly tags: Tags;
  /** Makes the request safe to repeat: the same token creates one interface. */
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
}

export interface AllocatePrefixes {
  readonly kind: 'allocatePrefixes';
  readonly instanceId: string;
  readonly interfaceId: string;
  /** Of prefixes. */
  readonly count: number;
}

/** Secondary addresses that are given back to their subnet. */
export interface ReleaseIPs {
  readonly kind: 'releaseIPs';
  readonly instanceId: string;
  readonly interfaceId: string;
  readonly addresses: readonly string[];
}

/** Delegated blocks that are given back, as `a.b.c.d/28`. */
export interface ReleasePrefixes {
  readonly kind: 'releasePrefixes';
  readonly instanceId: string;
  readonly interfaceId: string;
  readonly prefixes: readonly string[];
}

/** A public address becomes that of an interface's primary address, unless another interface has it. */
export interface AssociateStaticIP {
  readonly kind: 'associateStaticIP';
  readonly instanceId: string;
  readonly interfaceId: string;
  /** The cloud's id of the public address. */
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
  /** The answer never came or could not be read: it may have happened, or may yet happen. */
  | { readonly kind: 'ambiguous'; readonly failure: CloudFailure };
