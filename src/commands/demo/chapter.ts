// What a chapter of the demonstration is, and what it can do to the world.
import type { EmbeddedCluster } from '../../simulator/cluster/embedded-cluster.ts';
import type { Workload } from '../../simulator/workload/workload.ts';
import type { LogLine } from './controller-process.ts';
import type { Picture } from './picture.ts';

export interface Stage {
  readonly cluster: EmbeddedCluster;
  /** How many nodes there are. */
  readonly nodes: number;
  /** The process id of the controller now. */
  readonly controllerPid: () => number | undefined;
  /** Kills the controller with SIGKILL, and starts another. */
  readonly replaceController: () => void;
  /** Begins a workload. */
  readonly run: (workload: Workload) => void;
  /** Says what happens in the chapter. */
  readonly tell: (text: string) => void;
}

/** One look at the world. */
export interface Moment {
  readonly picture: Picture;
  /** Since the chapter began, in ms. */
  readonly elapsed: number;
}

/**
 * `underway`: the next one must wait; `continues`: the next one may begin, and there is something to be seen yet;
 * `over`: all that it is there to show was shown.
 */
export type Progress = 'underway' | 'continues' | 'over';

export interface Chapter {
  readonly title: string;
  /** What to look at, in a line or two. */
  readonly look: readonly string[];
  /** When the next one begins even if this one is under way, in ms after its own beginning. */
  readonly longest: number;
  begin(picture: Picture): void;
  /** At each look from its beginning on, until it is over. */
  watch(moment: Moment): Progress;
  /** At each line of the controller's log, from its beginning on. */
  hear?(line: LogLine): void;
}
