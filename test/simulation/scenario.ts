// Everything that one seed stands for, as plain data: what there is at the beginning, what pods do, and what goes wrong
// when. Nothing of it depends on how the system under test reacts, so that parts of it can be left out.
import type { Fault as CloudFault } from '../../src/simulator/cloud/faults.ts';
import type { EniOptions, IpamWatermarks, Protocol } from '../../src/simulator/workload/node-facts.ts';
import type { HandshakeState } from './handshake-state.ts';
import type { Workload } from '../../src/simulator/workload/workload.ts';

export interface Scenario {
  /** What was wrong when it was found; of regressions alone. */
  readonly why?: string;
  readonly seed: string;
  /** Of virtual time, until faults stop. */
  readonly minutes: number;
  /** Of virtual time, that it goes on at least, even where all is as it should be before; 0 if not given. */
  readonly leastMinutes?: number;
  readonly zones: readonly ZonePlan[];
  readonly nodes: readonly NodePlan[];
  /** Of every controller, without dashes. */
  readonly flags: Readonly<Record<string, string>>;
  readonly replicas: number;
  readonly cloud: CloudPlan;
  readonly workloads: readonly Workload[];
  /** In order of time. */
  readonly faults: readonly TimedFault[];
  /** Nodes are replaced at the end until the cloud was changed so many times; 0 if not given. */
  readonly leastMutations?: number;
  /** No pod may wait longer than this for its address, in ms, where nothing that goes wrong accounts for it. */
  readonly longestWait?: number;
}

export interface ZonePlan {
  readonly zone: string;
  readonly nodeBlock: string;
  readonly podBlocks: readonly string[];
}

export interface NodePlan {
  /** Index of its zone. */
  readonly zone: number;
  readonly type: string;
  readonly protocol: Protocol;
  readonly ipam: IpamWatermarks;
  /** The judge takes no primary address for a pod's. */
  readonly eni: Omit<EniOptions, 'usePrimaryAddress'>;
}

export interface CloudPlan {
  /** Chance that an address which was freed recently is handed out first. */
  readonly reuse: number;
  readonly listingLagMs: number;
  readonly visibilityDelayMs: number;
  /** Multiplies the rate limits of the account. */
  readonly limits: number;
}

/** Calls of the controller's ports at which something can be made to happen. */
export type PortCall =
  | 'CreateNetworkInterface'
  | 'AttachNetworkInterface'
  | 'AssignPrivateIpAddresses'
  | 'UnassignPrivateIpAddresses'
  | 'ModifyNetworkInterfaceAttribute'
  | 'DetachNetworkInterface'
  | 'DeleteNetworkInterface'
  | 'DescribeNetworkInterfaces'
  | 'patch spec'
  | 'patch status'
  | 'read node'
  | 'lease';

export type CallPhase = 'before it is sent' | 'once it is sent' | 'before its answer is taken in';

export type TimedFault = { readonly at: number } & FaultPlan;

/** Nodes, subnets and addresses are picked by a share of [0, 1) of what there is by then. Times in ms. */
export type FaultPlan =
  | {
      readonly kind: 'cloud';
      readonly action: string;
      readonly count: number;
      readonly rate: number;
      readonly fault: CloudFault;
    }
  | { readonly kind: 'throttle-storm'; readonly action: string; readonly rate: number; readonly for: number }
  | { readonly kind: 'stale-listings'; readonly lag: number; readonly for: number }
  | { readonly kind: 'torn-listings'; readonly share: number; readonly for: number }
  | { readonly kind: 'slow-visibility'; readonly ms: number; readonly for: number }
  /** Readings lack something that is there, for less than a consistency window. */
  | {
      readonly kind: 'omission';
      readonly what: OmittedPart;
      /** From the next reading on, or from the first of the next leader. */
      readonly from: 'next reading' | 'next leader';
      readonly node: number;
      readonly for: number;
    }
  /** Readings show nothing of what is there, for however long. */
  | { readonly kind: 'blind'; readonly what: BlindTo; readonly share: number; readonly for: number }
  /** All instances of a zone end and are forgotten at once, while their nodes stay for a while. */
  | { readonly kind: 'forgotten-zone'; readonly zone: number; readonly for: number }
  /** That share of the nodes goes at once, and comes back later under other names. */
  | { readonly kind: 'scale-down'; readonly share: number; readonly for: number }
  | { readonly kind: 'foreign'; readonly deed: ForeignDeed; readonly node: number; readonly pick: number }
  | { readonly kind: 'terminate'; readonly node: number; readonly during: PortCall }
  | {
      readonly kind: 'replace-node';
      readonly node: number;
      readonly sameName: boolean;
      readonly gap: number;
      /** From the launch of its instance until its agent starts: at once if not given, while EC2 says "pending". */
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
  /** Pods come to a node at the moment at which an address is hidden from its agent, of which that hears late. */
  | {
      readonly kind: 'grab';
      readonly nth: number;
      readonly pods: number;
      /** How much later its agent hears of it, in ms. */
      readonly lag: number;
      /** Whether controllers do not hear of what agents say for longer than an address stays hidden. */
      readonly deaf: boolean;
    }
  /** Somebody detaches an interface as an address of it is hidden, and pods come in waves until that is found out. */
  | { readonly kind: 'snatch'; readonly nth: number; readonly pods: number }
  /** An agent that has agreed to a release changes to the other protocol before the address is hidden, and pods come. */
  | { readonly kind: 'convert'; readonly nth: number; readonly pods: number; readonly hold: number }
  /**
   * A node stays between the mark of an address and its end, because its agent does not get to hear of the mark or controllers
   * of the refusal, and loses another one to somebody; the controller dies at a write that follows.
   */
  | {
      readonly kind: 'stall';
      readonly nth: number;
      readonly state: StalledState;
      readonly call: 'patch spec' | 'patch status';
      readonly phase: CallPhase;
      readonly restartAfter: number;
    }
  /** A process is frozen between its last look at a node and what it takes from it; others lead, and pods come. */
  | { readonly kind: 'outlive'; readonly nth: number; readonly pods: number; readonly ms: number }
  /** A write that gives a node addresses arrives only once the leader that sent it is dead and another one has begun. */
  | {
      readonly kind: 'straggle';
      readonly nth: number;
      /** How long the other one leads by then. */
      readonly ms: number;
      /** Whether controllers hear of it late. */
      readonly isHeardLate: boolean;
      readonly restartAfter: number;
    }
  | { readonly kind: 'touch-node'; readonly node: number; readonly during: PortCall; readonly times: number }
  | {
      readonly kind: 'kill';
      readonly call: PortCall;
      readonly phase: CallPhase;
      readonly nth: number;
      readonly restartAfter: number;
      /** Of the node that the call is about; whatever it is if not given. */
      readonly handshake?: HandshakeState;
    }
  | {
      readonly kind: 'freeze';
      readonly call: PortCall;
      readonly phase: Exclude<CallPhase, 'before it is sent'>;
      readonly ms: number;
    }
  /** An agent writes a CiliumNode that has no Node; `restart`: another controller leads soon after. */
  | {
      readonly kind: 'hostile';
      readonly deed: HostileDeed;
      readonly node: number;
      readonly restart: boolean;
    }
  /** Somebody changes what a node may have while pods run on it, and back after a while. */
  | ({ readonly kind: 'restrict'; readonly node: number; readonly for: number } & Restriction)
  /** Lists of Kubernetes succeed and show nothing; watches have to begin with one. `restart`: so does another leader. */
  | {
      readonly kind: 'empty-list';
      readonly what: ListedKind;
      readonly restart: boolean;
      readonly for: number;
    }
  | { readonly kind: 'clock-jump'; readonly ms: number }
  | { readonly kind: 'lease'; readonly deed: 'delete' | 'steal' }
  | { readonly kind: 'restart-controller'; readonly restartAfter: number };

export type FaultKind = FaultPlan['kind'];

export type ForeignDeed =
  | 'unassign-free'
  | 'unassign-used'
  | 'assign'
  | 'detach'
  | 'leave-loose'
  | 'delete-loose';

/** As soon as a write finds the handshake of a node, whichever, there; at once if not given. */
export interface InHandshake {
  readonly handshake: HandshakeState;
  readonly phase: CallPhase;
}

export type Restriction =
  /** One interface more is not for pods, whatever they use of it. */
  | { readonly what: 'first-interface-index' }
  /** To less than the node may have, and perhaps than it uses. */
  | { readonly what: 'max-allocate'; readonly most: number };

export type ListedKind = 'ciliumnodes' | 'nodes' | 'pods';

export type HostileDeed =
  /** Names a node's instance, shows what that one shows, and gives all of it up. */
  | 'twin'
  /** Names the next instance that is launched, before its node joins. */
  | 'ambush'
  /** Lists every address, and cannot be read. */
  | 'pool'
  /** Lists every address, on interfaces of a node, and names an instance that is none. */
  | 'claims';

export type StalledState = 'marked' | 'refused' | 'released';

/**
 * Another region or account; a role that may not see interfaces, or primary ones; a share of the instances. From the next listing on,
 * all interfaces but the primary ones: what counts as missing, and is too much to be true.
 */
export type BlindTo = 'region' | 'interfaces' | 'primaries' | 'instances' | 'secondaries';

export type OmittedPart = 'interface' | 'addresses';

export type WatchEffect = 'delay' | 'duplicate' | 'cut' | 'close' | 'expire';

export type ApiEffect = 'conflict' | 'internal-error' | 'too-many' | 'drop-before' | 'drop-after' | 'delay';
