// Facts that a benchmark needs about a cloud: how its model is served, how a fleet is made on it, and what its limits
// allow.
import type { CloudAccess } from '../../rig/controller-process.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import type { LeastCall } from '../floor.ts';

/** A cloud, as `--cloud` names it. */
export type CloudName = 'aws' | 'azure' | 'alibaba';

export interface Machines {
  readonly type: string;
  readonly count: number;
  /** Addresses for pods that each has on its first interface before anything begins. */
  readonly addresses?: number;
}

export interface CloudPlan {
  readonly cloud: CloudName;
  readonly machines: readonly Machines[];
  /** Multiplies size and refill of every rate limit. */
  readonly scale: number;
  /** Multiplies every delay; the inverse of `scale` if not given. */
  readonly latencyScale?: number;
  /** How far latencies scatter around their means (sigma of the log-normal distribution). */
  readonly spread: number;
}

/**
 * How a node gets its addresses. 1: the node needs a new interface for pods. 0: addresses on its existing interface are
 * enough.
 */
export type FirstInterfaceIndex = 0 | 1;

/** A fleet that is to come to rest. */
export interface FleetPlan {
  readonly type: string;
  readonly firstInterfaceIndex: FirstInterfaceIndex;
  /** Addresses for pods that each node has before anything begins. */
  readonly before: number;
  /** Free addresses that it is to have. */
  readonly wanted: number;
}

/** How all nodes of a scale-up grow. */
export interface Growth {
  /** The calls that a node needs, in words that follow "want 8 addresses each, ". */
  readonly words: string;
  /** The fewest calls of each node, one after another, where a figure compares with the time of them. */
  readonly calls?: readonly LeastCall[];
}

/** A model that `headwater simulate` serves, as it describes itself. */
export interface ServedModel {
  /** The URL of the cloud, and of the endpoint beside it. */
  readonly url: string;
  /** The environment that it gives its clients. */
  readonly variables: Readonly<Record<string, string>>;
  /** The flags that it gives a controller. */
  readonly flags: readonly string[];
}

export interface ModelServer {
  /** The name of the server in error messages. */
  readonly name: string;
  /** Flags with which `simulate` listens on free ports. The server may write files into `directory`. */
  readonly flags: (directory: string) => readonly string[];
  /** The last line that it writes exports this variable. */
  readonly lastVariable: string;
  /** How a controller reaches the server. */
  readonly access: (served: ServedModel) => CloudAccess;
}

export interface BenchCloud {
  readonly name: CloudName;
  /** The name of the cloud in sentences. */
  readonly title: string;
  readonly server: ModelServer;
  /** The topology file of simulate, as JSON, which YAML contains. */
  readonly topology: (plan: CloudPlan) => string;
  /** Facts that agents know beyond those that the cloud shows of their machines. */
  readonly agent: (
    index: FirstInterfaceIndex,
  ) => Pick<NodeFacts, 'cloud' | 'protocol' | 'networkCidr' | 'eni' | 'alibaba'>;
  /** All of the limits is the controller's; they are the cloud's own times `scale`. */
  readonly quotaFlags: (scale: number) => readonly string[];
  readonly growth: Readonly<Partial<Record<FirstInterfaceIndex, Growth>>>;
  /** Nodes of a scale-up, at most. */
  readonly largestScaleUp: number;
  /** The nodes of scale-ups and of idle fleets. */
  readonly usual: FleetPlan;
  /** The nodes whose memory is measured, and what is done with them. */
  readonly large: FleetPlan & { readonly words: string };
  /** The scale without `--scale`. */
  readonly scale: { readonly full: number; readonly small: number };
}
