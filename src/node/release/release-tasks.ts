// The tasks of one part of a node's releases. They share one back-off, which bugs extend too, and each wakes the node
// as it ends.
import { Backoff, type BackoffPolicy } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { TaskGroup } from '../../runtime/task-group.ts';

interface ReleaseTasksDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly wake: () => void;
  readonly onBug: (error: unknown) => void;
}

export class ReleaseTasks extends TaskGroup {
  /** A task records its own failures and successes here. */
  readonly backoff: Backoff;

  constructor(policy: BackoffPolicy, { clock, random, wake, onBug }: ReleaseTasksDeps) {
    const backoff = new Backoff(policy, { clock, random });
    super({ clock, onBug, backOff: () => backoff.fail(), onEnd: wake });
    this.backoff = backoff;
  }

  /** Starts the task, unless one with this subject is running. */
  beginOnce(subject: string, work: () => Promise<void>): void {
    if (!this.isAbout(subject)) this.begin(work, subject);
  }
}
