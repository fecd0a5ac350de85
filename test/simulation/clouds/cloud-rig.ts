// A cloud as a simulation uses it: its model, how processes reach it, and how its calls are judged.
import type { Cloud, CloudDeps } from '../../../src/controller/clouds/cloud.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import type { Faults } from '../../../src/simulator/cloud/faults.ts';
import type {
  EmbeddedClusterOptions,
  SimulatedCluster,
} from '../../../src/simulator/cluster/embedded-cluster.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import type { CloudName, NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import type { NodeView } from '../../../src/simulator/workload/node-view.ts';
import type { EndedCall } from '../invariants/ended-call.ts';
import type { PhaseListener, SimulatedProcess } from '../process.ts';

export interface CloudRig {
  readonly cloud: CloudName;
  readonly cluster: SimulatedCluster;
  readonly faults: Faults;
  /** Maximum time from sending a call to its last effect, in ms. */
  readonly maxCall: number;
  /** How long a process waits until it can use a new interface, or does without, in ms. */
  readonly untilUsable: number;
  /** Composes the cloud of a process. */
  readonly connect: (process: SimulatedProcess, hooks: RigHooks) => (deps: CloudDeps) => Cloud;
  /** Whether a call changes anything. */
  readonly isChange: (action: string) => boolean;
  /** The call of a controller behind the change of an interface that is being made; undefined for other changes. */
  readonly acting: (interfaceId: string) => ActingCall | undefined;
  /** The instance that the input of a call names, directly or by what it has; empty if it names none. */
  readonly instanceOfCall: (input: Readonly<Record<string, unknown>>) => string;
  /**
   * The instances all of whose interfaces a process has read once this call of it has ended; empty for other calls. `*`
   * stands for any last part of an id.
   */
  readonly instancesRead: (
    action: string,
    input: EndedCall['input'],
    output: EndedCall['output'],
    identity: string,
  ) => readonly string[];
  /** Launches an instance like the given one; undefined while that is impossible. */
  readonly launch: (like: NodeFacts) => Pick<NodeFacts, 'instanceId' | 'primaryAddress'> | undefined;
  readonly terminate: (instanceId: string) => void;
  /** Subnets of pods, in a fixed order. */
  readonly podSubnets: readonly string[];
  /** Security groups of interfaces that others make. */
  readonly securityGroups: readonly string[];
  /** How many more pod addresses the cloud would give to a node. */
  readonly roomFor: (view: NodeView) => number;
  /** Looks at each change of an interface for what no controller of this cloud may make. */
  readonly judge: (before: NetworkInterface | undefined, after: NetworkInterface | undefined) => void;
  /** Whether an operation on the interface is under way. */
  readonly isChanging: (interfaceId: string) => boolean;
  /** Whether lists alone show the interfaces of an instance: what they lack is missing. Others are read one by one. */
  readonly isReadInLists: (instanceId: string) => boolean;
  /** Whether a controller may still wait for the end of an operation on the interface. */
  readonly isAwaited: (interfaceId: string) => boolean;
  /** Number of addresses of an instance that others made, where no release may take those. */
  readonly madeByOthers: (instanceId: string) => number;
  /** Public addresses that nodes get by their tags, where the cloud has them. */
  readonly publicAddresses?: PublicAddressesOf;
  /** Another client takes all addresses of a subnet but `left`; the result frees them. */
  readonly occupy: (subnetId: string, left: number) => () => void;
  /** From now on operations take up to so long, in ms, where calls begin operations. */
  readonly slowDown: (ms: number) => void;
  /** Ends what faults changed in the model. */
  readonly restore: () => void;
}

export interface PublicAddressesOf {
  /** The public address of an instance; empty if it has none. */
  readonly of: (instanceId: string) => string;
  /** Whether a public address is left for an instance without one. */
  readonly isLeftFor: (instanceId: string) => boolean;
}

export interface ActingCall {
  readonly action: string;
  /** The controller that made it. */
  readonly identity: string;
  /** Whether it gives addresses back by name. */
  readonly unassigns: boolean;
}

export interface RigHooks {
  readonly onPhase: PhaseListener;
  readonly onCallEnded: (action: string, ended: EndedCall) => void;
  /** The part of an answer that the process receives. */
  readonly filterAnswer: <T extends object>(
    process: string,
    call: { readonly action: string; readonly input: object },
    output: T,
  ) => T;
  /** The process applies an answer: if it was frozen, later than the cloud sent it. */
  readonly onAnswerApplied: (process: string, action: string, output: object) => void;
}

/**
 * How calls reach the cloud: directly in its model, or over the wire, through the real SDK and the HTTP interface of
 * the model.
 */
export type CloudPath = 'fast' | 'wire';

export interface RigOptions {
  readonly clock: VirtualClock;
  readonly path: CloudPath;
  /** Options of the cluster. */
  readonly create: Omit<EmbeddedClusterOptions, 'topology'>;
  /** Receives what no controller may ever send. */
  readonly onMisdeed: (text: string) => void;
}
