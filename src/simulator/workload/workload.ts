// Load on a fleet over time, as plain data. `schedule.ts` turns it into actions.

/** Which node gets a new pod: the emptiest, any, or the fullest with room. */
export type Placement = 'spread' | 'random' | 'pack';

interface PodLoad {
  /** Prefix of the pods' names; unique per run. */
  readonly name: string;
  /** `spread` by default. */
  readonly placement?: Placement;
  /** The node of all pods, instead of `placement`. */
  readonly nodeName?: string;
  /** Pods on the host network, which need no address. */
  readonly hostNetwork?: boolean;
}

/** Pods that come and go, with exponential inter-arrival times and lifetimes. All times in ms. */
export interface SteadyLoad extends PodLoad {
  readonly kind: 'steady';
  readonly arrivalsPerMinute: number;
  readonly meanLifetime: number;
  /** No pod arrives after this; unlimited by default. */
  readonly duration?: number;
}

/** Many pods within a short time, all deleted later. All times in ms. */
export interface Burst extends PodLoad {
  readonly kind: 'burst';
  readonly at: number;
  readonly pods: number;
  /** The pods are created evenly over this time. */
  readonly over: number;
  /** From a pod's creation to its deletion; unlimited by default. */
  readonly lifetime?: number;
}

/** Deletes the pods of a burst evenly over a time, in ms. */
export interface Departure {
  readonly kind: 'departure';
  readonly name: string;
  readonly at: number;
  /** Name of the burst, and its number of pods. */
  readonly of: string;
  readonly pods: number;
  readonly over: number;
}

/** A constant number of pods, replaced periodically. All times in ms. */
export interface RollingDeploy extends PodLoad {
  readonly kind: 'rolling-deploy';
  readonly replicas: number;
  /** From the start of one full replacement to the next. */
  readonly every: number;
  /** Number of pods created before as many old ones are deleted. */
  readonly surge: number;
  /** Between the creation of new pods and the deletion of old ones, and before the next step. */
  readonly settle: number;
}

/** Replaces nodes repeatedly, one at a time. */
export interface NodeChurn {
  readonly kind: 'node-churn';
  readonly name: string;
  readonly every: number;
}

/** Restarts agents, one at a time. */
export interface AgentRestarts {
  readonly kind: 'agent-restarts';
  readonly name: string;
  readonly every: number;
}

/** Replaces agents by multi-pool agents, one at a time, until all are. */
export interface RollingUpgrade {
  readonly kind: 'rolling-upgrade';
  readonly name: string;
  /** Delay of the first one, in ms. */
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

/** One action, `at` ms after the start of the workload. */
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
