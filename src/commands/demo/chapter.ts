// Defines a chapter of the demonstration and what it can do to the world.
import type {
  EmbeddedAlibaba,
  EmbeddedAzure,
  EmbeddedCluster,
  SimulatedCluster,
} from '../../simulator/cluster/embedded-cluster.ts';
import type { NodeFacts } from '../../simulator/workload/node-facts.ts';
import type { Workload } from '../../simulator/workload/workload.ts';
import type { LogLine } from './controller-process.ts';
import type { Picture } from './picture.ts';

export interface ChapterContext<Cluster extends SimulatedCluster = SimulatedCluster> {
  readonly cluster: Cluster;
  readonly nodes: number;
  /** Process ID of the current controller. */
  readonly controllerPid: () => number | undefined;
  /** Kills the controller with SIGKILL and starts another. */
  readonly replaceController: () => void;
  /** Starts a workload. */
  readonly run: (workload: Workload) => void;
  /** Reports an event of the chapter. */
  readonly report: (text: string) => void;
}

export type Ec2Context = ChapterContext<EmbeddedCluster>;
export type AzureContext = ChapterContext<EmbeddedAzure>;
export type AlibabaContext = ChapterContext<EmbeddedAlibaba>;

/** The two nodes that share a small subnet, by name. */
export interface SmallSubnetNodes {
  /** Loses pods first. */
  readonly generous: string;
  /** Needs their addresses. */
  readonly inDeficit: string;
}

export function nodesOfSmallSubnet(
  { workload }: Pick<SimulatedCluster, 'workload'>,
  isThere: (facts: NodeFacts) => boolean,
): SmallSubnetNodes {
  const [generous, inDeficit] = workload.views
    .filter(({ facts }) => isThere(facts))
    .map(({ nodeName }) => nodeName);
  if (generous === undefined || inDeficit === undefined) throw new Error('the small subnet lacks nodes');
  return { generous, inDeficit };
}

/** One observation of the world. */
export interface Moment {
  readonly picture: Picture;
  /** Since the chapter started, in ms. */
  readonly elapsed: number;
}

/**
 * `running`: the next chapter must wait. `continues`: the next may start, and this one still has something to show.
 * `over`: everything was shown.
 */
export type Progress = 'running' | 'continues' | 'over';

export interface Chapter {
  readonly title: string;
  /** Hints on what to watch, in a line or two. */
  readonly hints: readonly string[];
  beginChapter(picture: Picture): void;
  /** Called at each check, from its start until it is over. */
  watch(moment: Moment): Progress;
  /** Called for each log line of the controller, from its start on. */
  onLogLine?(line: LogLine): void;
}
