// What can be asked of a fleet over time, as plain data. How each becomes a sequence of actions is in `schedule.ts`.

/** Which node a new pod goes to: the emptiest, any, or the fullest that has room. */
export type Placement = 'spread' | 'random' | 'pack';

interface PodLoad {
  /** Pods are named after it; no two workloads of a run may have the same. */
  readonly name: string;
  /** `spread` if not given. */
  readonly placement?: Placement;
  /** The node of all pods, in the place of `placement`. */
  readonly nodeName?: string;
  /** Pods that use the network of their node and need no address. */
  readonly hostNetwork?: boolean;
}

/** Pods that come and go: exponential times between arrivals, and exponential lifetimes. All times in ms. */
export interface SteadyLoad extends PodLoad {
  readonly kind: 'steady';
  readonly arrivalsPerMinute: number;
  readonly meanLifetime: number;
  /** No pod arrives after this; forever if not given. */
  readonly duration?: number;
}

/** Many pods within a short time, all gone after another. All times in ms. */
export interface Burst extends PodLoad {
  readonly kind: 'burst';
  readonly at: number;
  readonly pods: number;
  /** The pods are created evenly over this time. */
  readonly over: number;
  /** From the creation of each pod to its deletion; they stay if it is not given. */
  readonly lifetime?: number;
}

/** The pods of a burst are deleted, evenly over a time in ms. */
export interface Departure {
  readonly kind: 'departure';
  readonly name: string;
  readonly at: number;
  /** Name of the burst, and how many pods it had. */
  readonly of: string;
  readonly pods: number;
  readonly over: number;
}

/** As many pods all the time, replaced by new ones from time to time. All times in ms. */
export interface RollingDeploy extends PodLoad {
  readonly kind: 'rolling-deploy';
  readonly replicas: number;
  /** From the beginning of one replacement of all to the next. */
  readonly every: number;
  /** So many are created before as many old ones are deleted. */
  readonly surge: number;
  /** Between the creation of new pods and the deletion of the old, and again to the next step. */
  readonly settle: number;
}

/** A node goes and another one comes, again and again. */
export interface NodeChurn {
  readonly kind: 'node-churn';
  readonly name: string;
  readonly every: number;
}

/** An agent stops and starts again, one at a time. */
export interface AgentRestarts {
  readonly kind: 'agent-restarts';
  readonly name: string;
  readonly every: number;
}

/** One agent after another is replaced by one of the multi-pool protocol, until all are. */
export interface RollingUpgrade {
  readonly kind: 'rolling-upgrade';
  readonly name: string;
  /** Before the first, in ms. */
  readonly at: number;
  readonly every: number;
}

export type Workload =
  | SteadyLoad
  | Burst
  | Departure
  | RollingDeploy
  | NodeChurn
  | AgentRestarts
  | RollingUpgrade;

/** One thing to do, `at` ms after the beginning of the workload. */
export type WorkloadAction = { readonly at: number } & (
  | {
      readonly kind: 'create-pod';
      readonly pod: string;
      readonly hostNetwork: boolean;
      readonly placement: Placement;
      readonly nodeName?: string;
    }
  | { readonly kind: 'delete-pod'; readonly pod: string }
  | { readonly kind: 'replace-node' }
  | { readonly kind: 'restart-agent' }
  | { readonly kind: 'upgrade-agent' }
);
