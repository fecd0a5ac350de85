// Describes one cloud for the options and the agent of a node: data, without its SDK. A cloud is composed in
// src/controller/clouds.

export interface CloudDescriptor<Options> {
  /** Whether Headwater makes interfaces, or serves those that an instance was given. */
  readonly interfaces: 'made' | 'given';
  /** Whether its agents can use IPv6 addresses of interfaces. */
  readonly ipv6: boolean;
  /** How the ids of subnets start; undefined where no filter chooses subnets. */
  readonly subnetIdStart?: string;
  /** The calls behind a node's first addresses. */
  readonly firstCalls: FirstCalls;
  /** Where a node class of Karpenter says how many pods a node may have; undefined if no provider of Karpenter is known. */
  readonly nodeClass?: { readonly kind: string; readonly maxPods: readonly string[] };
  /** The most pods that the cloud lets a node have, however many addresses it holds, and who says so; undefined if it sets no limit. */
  readonly mostPods?: { readonly count: number; readonly by: string };
  /** Another program that gives out addresses of the same machines, and its pods. */
  readonly otherAllocator: { readonly name: string; readonly selector: string };
  /** The shipped policy, where the cloud tells only of a change that was made whether it is permitted. */
  readonly policy?: {
    readonly file: string;
    /** Each ends in the name of its call. */
    readonly permissions: readonly string[];
  };
  /** The option that releases addresses beyond the watermarks. */
  readonly releaseOption: string;
  /** For tags of interfaces; undefined where none is made. */
  readonly tagLimit?: TagLimit;
  /** The tag of instances in which the cloud says the name of their cluster; undefined where it says none. */
  readonly nameTag?: string;
  /** Options of the cloud under the names that all clouds share: the core reads these, and no option of a cloud. */
  settings(options: Options): CloudSettings;
  /** The spec of a CiliumNode that the agent of a node creates. */
  readonly newNode: {
    /** The provider ID of a Node, with the id of the instance as its group; ids are in lower case if the cloud ignores case. */
    readonly providerId: RegExp;
    readonly ignoresCase: boolean;
    /** The member of `spec` that has the instance type and the zone; undefined if none has. */
    readonly section?: string;
  };
}

/** A token bucket: `burst` calls at once, then `perSecond`. */
export interface CallRate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface FirstCalls {
  /** The calls, in words. */
  readonly what: string;
  /** The cloud's limit of each. The cloud's own table has the source of each. */
  readonly budgets: readonly CallRate[];
}

export interface TagLimit {
  /** The tags of one resource. */
  readonly max: number;
  /** The number of those that the cloud's provider adds. */
  readonly added: number;
  readonly cloud: string;
  /** The form of tags, if the options accept more. */
  readonly form?: { readonly words: string; readonly accepts: (key: string, value: string) => boolean };
}

export interface CloudSettings {
  /** Release addresses beyond the watermarks. */
  readonly releaseExcessIps: boolean;
  /** How long an interface must be without pod addresses before it is deleted, in ms; undefined keeps it. */
  readonly idleInterfaceDelay: number | undefined;
  /** Let pods use the primary address of an interface, unless a node's spec says otherwise. */
  readonly usePrimaryAddress: boolean;
  /** Assign prefixes instead of single addresses, unless a node's spec says otherwise. */
  readonly prefixDelegation: boolean;
  /** Give pods no addresses that others made. */
  readonly sparesOthers: boolean;
  /** Which nodes are served, and where their pods are. */
  readonly scope: {
    /** Undefined: nodes of every network. */
    readonly networkId: string | undefined;
    /** The network that pods get addresses of; undefined for that of their instance. */
    readonly podNetworkId?: string | undefined;
  };
  /** Whether orphaned interfaces are deleted. */
  readonly collection: CollectionDecision;
}

/**
 * The only network that interfaces of nodes are in; undefined if they may be in several: those that pods leave are elsewhere, too,
 * where pods move back to the network of the instances.
 */
export function onlyNetwork({ networkId, podNetworkId }: CloudSettings['scope']): string | undefined {
  return podNetworkId === undefined ? networkId : undefined;
}

export type CollectionDecision =
  | { readonly kind: 'on'; readonly interval: number; readonly dryRun: boolean }
  | { readonly kind: 'off' }
  /** Requested, but it could delete interfaces of another cluster. */
  | { readonly kind: 'refused'; readonly because: string; readonly remedy: string };

/** Options about orphaned interfaces, where Headwater makes interfaces. */
export interface CollectionOptions {
  readonly clusterName: string;
  readonly eniGcTags: Readonly<Record<string, string>>;
  readonly eniGcInterval: number;
  readonly eniGcDryRun: boolean;
}

/** The cluster name without configuration: interfaces that carry it may belong to any cluster. */
const unconfiguredName = 'default';

/** Whether and how to delete orphaned interfaces. `nameTag`: that of the cloud. */
export function collectionOf(options: CollectionOptions, nameTag?: string): CollectionDecision {
  const { clusterName, eniGcTags, eniGcInterval: interval, eniGcDryRun: dryRun } = options;
  if (interval === 0) return { kind: 'off' };
  if (clusterName === unconfiguredName && Object.keys(eniGcTags).length === 0) {
    const asked = nameTag === undefined ? '' : `, or to tag=${nameTag} if the instances carry that tag`;
    return {
      kind: 'refused',
      because: `the cluster's name is ${unconfiguredName}, as for any cluster without one: their interfaces look the same`,
      remedy: `set --cluster-name to a name that no other cluster of the account has${asked} (or --eni-gc-tags to tags that no other cluster sets), or --eni-gc-interval=0`,
    };
  }
  return { kind: 'on', interval, dryRun };
}
