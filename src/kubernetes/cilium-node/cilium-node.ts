// The CiliumNode as the controller uses it: typed, validated and reduced to the fields it needs. Types only;
// cilium-node-reader.ts reads it.
//
// The object: https://docs.cilium.io/en/stable/network/concepts/ipam/crd/. Zero, the empty string and absence are
// equivalent in it; an absent string is undefined here.
import type { SectionRequirements, ShownInterfaces } from '../../providers/contract/cilium-node-section.ts';
import type { FieldProblem } from './field-problems.ts';
import type { PatchBase } from './patch-base.ts';

export interface CiliumNode {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Creation time in the API server's format, which sorts by age. */
  readonly createdAt: string | undefined;
  /** The object is deleted and waits for finalizers. */
  readonly deleting: boolean;
  /** The owner asks on this object that it is ignored; the Node may ask for that, too. */
  readonly ignored: boolean;
  /** Something owns it, or its owner asks that it is kept: it stays although its machine is gone. */
  readonly spared?: true;
  /** Uid of the Node in the owner reference. */
  readonly nodeUid: string | undefined;
  /** The instance ID in the cloud's form; undefined until the agent reports it. */
  readonly instanceId: string | undefined;
  readonly ipam: IpamSpec;
  /** The word of the agent on its instance, and its demand, in the section of its cloud. */
  readonly section: SectionRequirements;
  readonly status: CiliumNodeStatus;
  /** The state from which our patches are computed. */
  readonly base: PatchBase;
  /** Invalid single entries, which the fields above omit. */
  readonly warnings: readonly FieldProblem[];
}

export interface IpamSpec {
  /** Free addresses to keep ready; 0 when absent. */
  readonly preAllocate: number;
  /** Minimum total of addresses; 0 for none. */
  readonly minAllocate: number;
  /** Maximum total of addresses; 0 for no limit. */
  readonly maxAllocate: number;
  /** Extra addresses to allocate whenever an allocation is needed; 0 when absent. */
  readonly maxAboveWatermark: number;
  /** By IPv4 address. */
  readonly pool: ReadonlyMap<string, PoolEntry>;
  readonly requested: readonly RequestedPool[];
  readonly allocated: readonly AllocatedPool[];
  /** Selects the public address of the primary interface; empty for none. */
  readonly staticIpTags: Tags;
}

export type Tags = Readonly<Record<string, string>>;

export interface PoolEntry {
  /** The interface of the address, in the cloud's form; empty when absent. */
  readonly resource: string;
  readonly owner: string;
}

export interface RequestedPool {
  readonly pool: string;
  /** Address counts. */
  readonly ipv4: number;
  readonly ipv6: number;
}

export interface AllocatedPool {
  readonly pool: string;
  readonly cidrs: readonly string[];
  /** Whether pods get the first and the last address of each: agents take that from here. Default: no. */
  readonly allowFirstIp?: true;
  readonly allowLastIp?: true;
}

export interface CiliumNodeStatus {
  /** IPv4 addresses that pods or the host use, as the agent last reported. */
  readonly used: ReadonlySet<string>;
  readonly releaseIps: ReadonlyMap<string, ReleaseState>;
  /** The interfaces that agents are shown, in the section of their cloud. */
  readonly interfaces: ShownInterfaces;
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

/** Identifies a CiliumNode and the Node that owns it. */
export type NodeReference = Pick<CiliumNode, 'name' | 'uid' | 'nodeUid'>;
