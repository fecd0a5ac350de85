// The scenario of a seed as plain data: the initial cluster, the workloads and the timed faults. Nothing in it depends
// on the system under test, so that a search can leave parts out.
import type { Fault as CloudFault } from '../../src/simulator/cloud/faults.ts';
import type {
  AlibabaOptions,
  EniOptions,
  IpamWatermarks,
  Protocol,
} from '../../src/simulator/workload/node-facts.ts';
import type { HandshakeState } from './handshake-state.ts';
import type { Workload } from '../../src/simulator/workload/workload.ts';

export interface Scenario {
  /** The bug that the scenario revealed, or the case that seeds reach too rarely. Only in regressions. */
  readonly why?: string;
  readonly seed: string;
  /** Virtual time until faults stop. */
  readonly minutes: number;
  /** Minimum virtual time, even if the cluster converges earlier; 0 by default. */
  readonly minMinutes?: number;
  readonly zones: readonly ZonePlan[];
  readonly nodes: readonly NodePlan[];
  /** Only on AWS; if absent, no subnet has IPv6 and no node asks for it. */
  readonly ipv6?: Ipv6Plan;
  /** Whether pods are in another VPC than the instances. Only on AWS. */
  readonly hasPodVpc?: boolean;
  /** No cloud controller manager runs: only their addresses tie Nodes to instances. */
  readonly withoutProviderIds?: boolean;
  /** Options of every controller, without dashes. */
  readonly flags: Readonly<Record<string, string>>;
  readonly replicas: number;
  readonly cloud: CloudPlan;
  /** Only on Azure. */
  readonly azure?: AzurePlan;
  /** Only on Alibaba Cloud. */
  readonly alibaba?: AlibabaPlan;
  readonly workloads: readonly Workload[];
  /** In order of time. */
  readonly faults: readonly TimedFault[];
  /** Replaces nodes at the end until the cloud changed this often; 0 by default. */
  readonly minMutations?: number;
  /** Maximum wait of a pod for its address, in ms, unless a fault explains it. */
  readonly maxWait?: number;
}

export interface ZonePlan {
  readonly zone: string;
  readonly nodeBlock: string;
  readonly podBlocks: readonly string[];
}

/** Which subnets have a block of IPv6. */
export interface Ipv6Plan {
  /** The pod subnets of each zone that have an IPv6 block: all, or the first one. */
  readonly podSubnets: 'all' | 'first';
  readonly nodeSubnets: boolean;
}

export interface NodePlan {
  /** Index of its zone. */
  readonly zone: number;
  readonly type: string;
  readonly protocol: Protocol;
  readonly ipam: IpamWatermarks;
  /** The invariant checker assumes that no pod uses a primary address. */
  readonly eni: Omit<EniOptions, 'usePrimaryAddress'>;
  /** Whether agents run with `enable-ipv6`. */
  readonly ipv6?: boolean;
  /** Only on Alibaba Cloud. */
  readonly alibaba?: AlibabaOptions;
}

export interface CloudPlan {
  /** Probability that a recently freed address is assigned first. */
  readonly reuse: number;
  readonly listingLagMs: number;
  readonly visibilityDelayMs: number;
  /** Factor on the rate limits of the account. */
  readonly limits: number;
  /** Public addresses for nodes with tags; none by default. Only on AWS. */
  readonly publicAddresses?: number;
}

export interface AzurePlan {
  /** The kind of the scale set of each zone. */
  readonly modes: readonly ('Uniform' | 'Flexible')[];
  /** How many interfaces each VM of a zone has; 1 by default. */
  readonly interfaces?: readonly number[];
  /** By zone: the only interface with addresses for pods, counted from 0; 0: each has some. */
  readonly podInterfaces?: readonly number[];
  /** Length of the public IP prefix that nodes with tags get addresses of; none by default. */
  readonly publicIpPrefix?: number;
  /** From a change until its operation ends, in ms. */
  readonly operationMs: { readonly min: number; readonly max: number };
  /** The headers with which answers announce an operation. */
  readonly headers: 'asyncOperation' | 'location' | 'both';
  /** In s; none if 0. */
  readonly retryAfter: number;
  readonly pageSize: number;
  /** Probability that an id in an answer is in another case. */
  readonly respelled: number;
}

export interface AlibabaPlan {
  /** From the call until an interface is attached, and until a new one can be attached, in ms. */
  readonly attachMs: { readonly min: number; readonly max: number };
  readonly createMs: { readonly min: number; readonly max: number };
}

/** Calls of the controller's ports at which a fault can act. */
export type PortCall =
  | 'CreateNetworkInterface'
  | 'AttachNetworkInterface'
  | 'AssignPrivateIpAddresses'
  | 'AssignIpv6Addresses'
  | 'UnassignPrivateIpAddresses'
  | 'ModifyNetworkInterfaceAttribute'
  | 'DetachNetworkInterface'
  | 'DeleteNetworkInterface'
  | 'DescribeNetworkInterfaces'
  | 'VirtualMachineScaleSetVMs.Update'
  | 'Interfaces.CreateOrUpdate'
  | 'VirtualMachineScaleSetVMs.Get'
  | 'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces'
  | 'Operations.Get'
  | 'patch spec'
  | 'patch status'
  | 'read node'
  | 'lease';

export type CallPhase = 'before it is sent' | 'once it is sent' | 'before its answer is taken in';

export type TimedFault = { readonly at: number } & FaultPlan;

/** A share of [0, 1) picks among the nodes, subnets or addresses that exist by then. Times in ms. */
export type FaultPlan =
  | {
      readonly kind: 'cloud';
      readonly action: string;
      readonly count: number;
      readonly rate: number;
      readonly fault: CloudFault;
    }
  | { readonly kind: 'throttle-storm'; readonly action: string; readonly rate: number; readonly for: number }
  /** Calls are refused in this way; not on AWS. */
  | {
      readonly kind: 'refusals';
      readonly action: string;
      readonly code: string;
      readonly status: number;
      readonly for: number;
    }
  /** Operations take up to so long; not on AWS. */
  | { readonly kind: 'slow-operations'; readonly ms: number; readonly for: number }
  | { readonly kind: 'stale-listings'; readonly lag: number; readonly for: number }
  | { readonly kind: 'torn-listings'; readonly share: number; readonly for: number }
  | { readonly kind: 'slow-visibility'; readonly ms: number; readonly for: number }
  /** Reads omit something that exists, for less than a consistency window. */
  | {
      readonly kind: 'omission';
      readonly what: OmittedPart;
      /** From the next read, or from the first read of the next leader. */
      readonly from: 'next reading' | 'next leader';
      readonly node: number;
      readonly for: number;
    }
  /** Reads show nothing of what exists, for any time. */
  | {
      readonly kind: 'blind';
      readonly what: OutageScope;
      readonly share: number;
      readonly for: number;
      /** Only with `secondaries`. */
      readonly handover?: Handover;
    }
  /** All instances of a zone terminate and disappear at once, while their nodes stay for a while. */
  | { readonly kind: 'forgotten-zone'; readonly zone: number; readonly for: number }
  /** This share of the nodes leaves at once, and returns later under other names. */
  | {
      readonly kind: 'scale-down';
      readonly share: number;
      readonly for: number;
      /** Only the instances leave at once, and the nodes so much later; by default the nodes go first. */
      readonly nodesStayFor?: number;
    }
  | { readonly kind: 'foreign'; readonly deed: ExternalChange; readonly node: number; readonly pick: number }
  | { readonly kind: 'terminate'; readonly node: number; readonly during: PortCall }
  | {
      readonly kind: 'replace-node';
      readonly node: number;
      readonly sameName: boolean;
      readonly gap: number;
      /** From the launch of its instance until its agent starts; by default at once, while EC2 still says "pending". */
      readonly boot?: number;
    }
  | { readonly kind: 'zone-loss'; readonly zone: number; readonly for: number }
  | { readonly kind: 'squeeze'; readonly subnet: number; readonly left: number; readonly for: number }
  | { readonly kind: 'fragment'; readonly subnet: number; readonly whole: number; readonly for: number }
  | ({ readonly kind: 'restart-agent'; readonly node: number } & Partial<InHandshake>)
  | ({
      readonly kind: 'change-agent';
      readonly node: number;
      readonly protocol: Protocol;
    } & Partial<InHandshake>)
  | { readonly kind: 'watch'; readonly effect: WatchEffect; readonly times: number; readonly ms: number }
  | {
      readonly kind: 'api';
      readonly effect: ApiEffect;
      readonly method: string;
      readonly path: string;
      readonly times: number;
      readonly ms: number;
    }
  | { readonly kind: 'api-away'; readonly for: number }
  /** The leader's open connections to the API server pass nothing on, in this way, and do not end. */
  | {
      readonly kind: 'silence';
      readonly way: SilentWay;
      /** How many requests use one of them. */
      readonly requests: number;
    }
  /** Pods arrive on a node at the moment when an address is hidden from its agent, which learns of it late. */
  | {
      readonly kind: 'grab';
      readonly nth: number;
      readonly pods: number;
      /** Event delay for the agent, in ms. */
      readonly lag: number;
      /** Whether controllers learn of agent reports later than the quarantine ends. */
      readonly deaf: boolean;
    }
  /**
   * An external change detaches an interface while one of its addresses is being hidden, and pods arrive in waves until
   * that is detected.
   */
  | { readonly kind: 'snatch'; readonly nth: number; readonly pods: number }
  /** An agent that agreed to a release changes protocol before the address is hidden, and pods arrive. */
  | { readonly kind: 'convert'; readonly nth: number; readonly pods: number; readonly hold: number }
  /**
   * A release stays between its mark and its end, because the agent does not get the mark or controllers do not get the
   * refusal. The node loses another address to an external change, and the controller dies at a later write.
   */
  | {
      readonly kind: 'stall';
      readonly nth: number;
      readonly state: StalledState;
      readonly call: 'patch spec' | 'patch status';
      readonly phase: CallPhase;
      readonly restartAfter: number;
    }
  /**
   * A process freezes between its last read of a node and the call that releases an address; another leads, and pods
   * arrive.
   */
  | { readonly kind: 'outlive'; readonly nth: number; readonly pods: number; readonly ms: number }
  /** A write that gives a node addresses arrives only after its leader died and the next one started. */
  | {
      readonly kind: 'straggle';
      readonly nth: number;
      /** How long the next leader has led by then. */
      readonly ms: number;
      /** Whether controllers get the event late. */
      readonly isHeardLate: boolean;
      readonly restartAfter: number;
    }
  /** Somebody gives an interface of the node an IPv6 prefix, or takes one. */
  | { readonly kind: 'ipv6-by-hand'; readonly deed: 'assign' | 'unassign'; readonly node: number }
  /** Somebody writes a member of an interface in the status that Headwater does not write. */
  | { readonly kind: 'member-of-others'; readonly node: number }
  | { readonly kind: 'touch-node'; readonly node: number; readonly during: PortCall; readonly times: number }
  | {
      readonly kind: 'kill';
      readonly call: PortCall;
      readonly phase: CallPhase;
      readonly nth: number;
      readonly restartAfter: number;
      /** State of the node that the call is about; any by default. */
      readonly handshake?: HandshakeState;
    }
  | {
      readonly kind: 'freeze';
      readonly call: PortCall;
      readonly phase: Exclude<CallPhase, 'before it is sent'>;
      readonly ms: number;
    }
  /** An agent writes a CiliumNode without a Node. `restart`: another leader follows soon. */
  | {
      readonly kind: 'hostile';
      readonly deed: HostileAction;
      readonly node: number;
      readonly restart: boolean;
    }
  /** Changes what a node may have while pods run on it, and changes it back after a while. */
  | ({ readonly kind: 'restrict'; readonly node: number; readonly for: number } & Restriction)
  /**
   * Lists of Kubernetes succeed and show nothing, and watches restart with a list. `restart`: another leader also
   * starts with one.
   */
  | {
      readonly kind: 'empty-list';
      readonly what: ListedKind;
      readonly restart: boolean;
      readonly for: number;
    }
  /** The agent of a node loses what its pods use, and reports and answers accordingly. Pods come at both ends. */
  | { readonly kind: 'forget'; readonly node: number; readonly for: number }
  | { readonly kind: 'clock-jump'; readonly ms: number }
  | { readonly kind: 'lease'; readonly deed: 'delete' | 'steal' }
  | { readonly kind: 'restart-controller'; readonly restartAfter: number };

export type FaultKind = FaultPlan['kind'];

export type ExternalChange =
  | 'unassign-free'
  | 'unassign-used'
  | 'assign'
  | 'detach'
  | 'leave-loose'
  | 'delete-loose';

/** Waits for a write that finds any node in this state; acts at once by default. */
export interface InHandshake {
  readonly handshake: HandshakeState;
  readonly phase: CallPhase;
}

export type Restriction =
  /** Excludes one more interface from pods, even if pods use it. */
  | { readonly what: 'first-interface-index' }
  /** Less than the node may have, and perhaps less than it uses. */
  | { readonly what: 'max-allocate'; readonly max: number };

/**
 * After `after` ms another process leads, and only `hidden` instances stay hidden: few enough to pass the brake of a leader
 * that does not know what the former one held. No seed draws it: it is safe only once the former leader has
 * noted on the Lease that it holds withdrawals.
 */
export interface Handover {
  readonly after: number;
  readonly hidden: number;
}

export type ListedKind = 'ciliumnodes' | 'nodes' | 'pods';

export type HostileAction =
  /** Names the instance of a node, copies what that node shows, and agrees to release all of it. */
  | 'twin'
  /** Names the next instance at launch, before its node joins. */
  | 'ambush'
  /** Lists every address, and is unreadable. */
  | 'pool'
  /** Lists every address on interfaces of a node, and names an instance that does not exist. */
  | 'claims';

export type StalledState = 'marked' | 'refused' | 'released';

/**
 * Another region or account; a role without access to interfaces or to primary ones; a share of the instances.
 * `secondaries`: from the next listing, all interfaces but primary ones; from other reads only once lists have lacked too
 * many to believe.
 */
export type OutageScope = 'region' | 'interfaces' | 'primaries' | 'instances' | 'secondaries';

export type OmittedPart = 'interface' | 'addresses';

export type WatchEffect = 'delay' | 'duplicate' | 'cut' | 'close' | 'expire';

/** `toServer`: requests get lost. `fromServer`: answers and events get lost. */
export type SilentWay = 'toServer' | 'fromServer' | 'both';

export type ApiEffect = 'conflict' | 'internal-error' | 'too-many' | 'drop-before' | 'drop-after' | 'delay';
