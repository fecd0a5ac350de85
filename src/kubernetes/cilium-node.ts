// A CiliumNode as the controller sees it: typed, validated, and without anything it does not use. Types only; the reading is
// in cilium-node-reader.ts.
//
// The object: https://docs.cilium.io/en/stable/network/concepts/ipam/crd/ and, for AWS,
// https://docs.cilium.io/en/stable/network/concepts/ipam/eni/. Zero, the empty text and absence are one and the same in
// it; a text that is not given is undefined here.
import type { FieldProblem } from './field-problem.ts';
import type { PatchBase } from './patch-base.ts';

export interface CiliumNode {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** It has been deleted and waits for finalizers. */
  readonly deleting: boolean;
  /** Its owner asks us to leave it alone: annotation `ipam.cilium.io/ignore`. */
  readonly ignored: boolean;
  /** Of the Node that owns it. */
  readonly nodeUid: string | undefined;
  /** Of the machine, in the cloud's own form; undefined as long as the agent has not said. */
  readonly instanceId: string | undefined;
  readonly ipam: IpamSpec;
  /** What the agent says about its AWS instance; undefined on other clouds. */
  readonly eni: EniSpec | undefined;
  readonly status: CiliumNodeStatus;
  /** What our patches are computed from. */
  readonly base: PatchBase;
  /** Single entries that make no sense and are left out above. */
  readonly warnings: readonly FieldProblem[];
}

export interface IpamSpec {
  /** Counts of addresses; 0 when not given. */
  readonly preAllocate: number;
  readonly minAllocate: number;
  readonly maxAllocate: number;
  readonly maxAboveWatermark: number;
  /** By IPv4 address. */
  readonly pool: ReadonlyMap<string, PoolEntry>;
  readonly requested: readonly RequestedPool[];
  readonly allocated: readonly AllocatedPool[];
  /** Which public address the primary interface is to have; empty when none is wanted. */
  readonly staticIpTags: Tags;
}

export type Tags = Readonly<Record<string, string>>;

export interface PoolEntry {
  /** The interface that has the address, in the cloud's own form; empty when not given. */
  readonly resource: string;
  readonly owner: string;
}

export interface RequestedPool {
  readonly pool: string;
  /** Counts of addresses. */
  readonly ipv4: number;
  readonly ipv6: number;
}

export interface AllocatedPool {
  readonly pool: string;
  readonly cidrs: readonly string[];
}

/** `spec.eni`, with the defaults that agents and operators share. */
export interface EniSpec {
  readonly instanceType: string | undefined;
  readonly vpcId: string | undefined;
  /** By name, like us-west-2a. */
  readonly availabilityZone: string | undefined;
  /** The subnet of the primary interface. */
  readonly nodeSubnetId: string | undefined;
  /** Interfaces attached below this device index carry no pods. */
  readonly firstInterfaceIndex: number;
  readonly securityGroups: readonly string[];
  readonly securityGroupTags: Tags;
  readonly subnetIds: readonly string[];
  readonly subnetTags: Tags;
  /** Interfaces that carry all of these tags carry no pods; empty excludes none. */
  readonly excludeInterfaceTags: Tags;
  readonly deleteOnTermination: boolean;
  readonly usePrimaryAddress: boolean;
  readonly disablePrefixDelegation: boolean;
}

export interface CiliumNodeStatus {
  /** IPv4 addresses that pods or the host have, as the agent last said. */
  readonly used: ReadonlySet<string>;
  readonly releaseIps: ReadonlyMap<string, ReleaseState>;
  /** Published interfaces, by id. */
  readonly eni: ReadonlyMap<string, PublishedEni>;
  readonly assignedStaticIp: string | undefined;
  readonly operatorError: string | undefined;
}

export const releaseStates = [
  'marked-for-release',
  'ready-for-release',
  'do-not-release',
  'released',
] as const;

export type ReleaseState = (typeof releaseStates)[number];

export interface PublishedEni {
  /** IPv4. */
  readonly addresses: readonly string[];
  readonly prefixes: readonly string[];
  readonly ipv6Prefixes: readonly string[];
}
