// The port to a cloud's section of the CiliumNode: `spec.<key>`, in which an agent says what its node needs, and
// `status.<key>`, which Headwater writes and agents read. Each cloud implements it once, as a codec of plain JSON. Who
// reads a CiliumNode asks this port, never a field of one cloud.
import type { Infrastructure, KnownNetwork } from './infrastructure.ts';
import type { InstanceView } from './facts.ts';
import type { NetworkInterface, Tags } from './network-interface.ts';
import type { ShownInterfaces } from './shown-interfaces.ts';

export type { ShownInterface, ShownInterfaces } from './shown-interfaces.ts';

export interface CiliumNodeSection {
  /** The name of the section in the spec and in the status. */
  readonly key: string;

  /** How much of the section is read. A CiliumNode beyond a bound is unreadable. */
  readonly bounds: readonly SectionBound[];

  /** Reads `spec.<key>`, which may be absent. A problem makes the CiliumNode unreadable. */
  requirements(spec: unknown): SectionReading<SectionRequirements>;

  /**
   * Reads from `status.<key>` what agents are shown. It takes everything that an agent could take for an address:
   * what is left out counts as hidden, and may be unassigned. `skip` receives the invalid entries that are left out.
   */
  shown(status: unknown, skip: SkippedEntry): SectionReading<ShownInterfaces>;

  /** The content of `status.<key>` for an instance. All its interfaces are showable. */
  status(view: InstanceView, context: StatusContext): unknown;

  /** Whether the status can hold all that an agent needs to set up addresses of the interface. */
  isShowable(item: NetworkInterface, known: KnownNetwork): boolean;

  /** A published status without the interfaces and addresses that are gone; the rest stays unchanged. */
  without(status: unknown, isGone: (id: string) => boolean): unknown;

  /**
   * The state that a published status names, parsed leniently: the state known before a restart. `zone` is the instance's,
   * empty if its CiliumNode does not say it.
   */
  restore(instanceId: string, status: unknown, zone: string): RestoredState;

  /**
   * Keeps the published spelling of ids, of a cloud that spells them differently from answer to answer. Call it before
   * anything is read from the cloud.
   */
  readonly keepSpelling?: (status: unknown) => void;

  readonly layout: StatusLayout;

  readonly words: CloudWords;
}

export interface SectionBound {
  /** From the CiliumNode itself. */
  readonly path: readonly string[];
  /** Members of a map, or items of a list. */
  readonly entries?: number;
  /** Total characters within, names included. */
  readonly characters?: number;
}

export type SectionReading<T> =
  | { readonly value: T }
  | { readonly problems: readonly { readonly path: SectionPath; readonly accepted: string }[] };

/** From the section. */
export type SectionPath = readonly (string | number)[];

export type SkippedEntry = (path: SectionPath, found: unknown, accepted: string) => void;

/** The requirements of a node in its section. A member without a field in the cloud's section is undefined or empty. */
export interface SectionRequirements {
  /** Required fields that the section lacks, by their paths in the CiliumNode. */
  readonly missing: readonly string[];
  /** The obsolete place of `spec.instance-id`. */
  readonly instanceId?: string | undefined;
  readonly instanceType?: string | undefined;
  readonly networkId?: string | undefined;
  readonly zone?: string | undefined;
  /** The subnet of the node's own address. */
  readonly nodeSubnetId?: string | undefined;
  /** The only interface that gets new addresses; undefined for any. */
  readonly interfaceName?: string | undefined;
  /** Interfaces below this device index carry no pods. */
  readonly firstInterfaceIndex: number;
  /** Whether only the primary interface is below it, on every node of the cloud: no setting of a node says so. */
  readonly sparesPrimary?: boolean;
  readonly securityGroupIds: readonly string[];
  readonly securityGroupTags: Tags;
  readonly subnetIds: readonly string[];
  readonly subnetTags: Tags;
  /** Whether no other subnets do if none has those ids, or those tags. */
  readonly strictSubnets?: boolean;
  /** Interfaces with all of these tags carry no pods; empty excludes none. */
  readonly excludeInterfaceTags: Tags;
  readonly deleteOnTermination: boolean;
  readonly usePrimaryAddress: boolean;
  readonly disablePrefixDelegation: boolean;
}

/** How the status holds its interfaces: what a merge patch of it, and a comparison of two, have to know. */
export interface StatusLayout {
  /** The member that holds the interfaces: a map by id, or a list that `identifiedBy` names. */
  readonly interfaces: string;
  /** The list of addresses of an interface: texts, or items that `identifiedBy` names. */
  readonly addresses: string;
  /** The list of IPv6 prefixes of an interface; absent if the cloud's agents know none. */
  readonly ipv6Prefixes?: string;
  /** By the name of a list, the member by which its items are known. A merge patch replaces a list as a whole. */
  readonly identifiedBy: ReadonlyMap<string, string>;
  /** Members of an interface that Headwater writes. Every other member of the section belongs to others and stays. */
  readonly owned: OwnedMembers;
  /** Fields of an interface that agents up to 1.19 may not know and drop when they write the status back. */
  readonly droppable: ReadonlySet<string>;
  /** Fields of an interface that no agent needs to set up an address. */
  readonly incidental: ReadonlySet<string>;
}

/** Members that Headwater writes: each whole, or only its own members, of an object or of each item of a list. */
export interface OwnedMembers {
  readonly [member: string]: 'whole' | OwnedMembers;
}

export interface StatusContext {
  readonly infrastructure: Infrastructure;
  readonly usePrimaryAddress: boolean;
  /** Ids of interfaces unfit for pods: the status shows only their retired addresses. */
  readonly unfit: ReadonlySet<string>;
  /** Unfit addresses that stay visible, because the agent has seen them and may use them. */
  readonly retired: ReadonlySet<string>;
  /** Addresses that must not be published. */
  readonly excluded: ReadonlySet<string>;
}

export interface RestoredState extends KnownNetwork {
  readonly interfaces: readonly NetworkInterface[];
}

/** The cloud's own terms, for messages that say what to correct. */
export interface CloudWords {
  readonly publicAddress: string;
  /** Where the node's cloud settings are: fields of the CiliumNode, or what else to correct. */
  readonly fields: {
    readonly instanceType: string;
    readonly networkId: string;
    readonly zone: string;
    /** Only where an instance is given its interfaces. */
    readonly interfaceName?: string;
    readonly securityGroupIds: string;
    readonly securityGroupTags: string;
  };
  /** The remedies for a person. */
  readonly remedies: {
    /** No subnet that may serve the node has a free address. */
    readonly fullSubnets: string;
    /** Subnets show no tags, and may have some; absent where a cloud shows those of every subnet. */
    readonly hiddenTags?: string;
    /** The instance can hold no more addresses. */
    readonly fullInstance: string;
    /** The thing to check if an instance is not found. */
    readonly unseenInstance: string;
  };
  /** The options that restrict what Headwater serves. */
  readonly options: {
    readonly networkId: string;
    /** The one that puts pods into another network; absent where a cloud has no such interfaces. */
    readonly podNetworkId?: string;
    /** Says of an instance that options exclude it. */
    readonly exclusion: string;
  };
}
