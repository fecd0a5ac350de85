// Failpoints: actions that run when a controller reaches a given call.
import type { CallInProgress } from './process.ts';
import type { CallPhase, PortCall } from './scenario.ts';

export interface Failpoint {
  readonly call: PortCall;
  readonly phase: CallPhase;
  /** Matching calls to skip first. */
  readonly nth: number;
  /** Whether it applies to this call. */
  readonly matches?: (progress: CallInProgress) => boolean;
  /** Number of times; 1 by default. */
  readonly times?: number;
  readonly run: (progress: CallInProgress) => void;
}

interface Armed {
  readonly failpoint: Failpoint;
  toSkip: number;
  left: number;
}

export class Failpoints {
  #armed: Armed[] = [];

  arm(failpoint: Failpoint): void {
    this.#armed.push({ failpoint, toSkip: failpoint.nth, left: failpoint.times ?? 1 });
  }

  clear(): void {
    this.#armed = [];
  }

  hit(phase: CallPhase, progress: CallInProgress): void {
    if (this.#armed.length === 0) return;
    for (const armed of this.#armed) {
      const { failpoint } = armed;
      if (armed.left <= 0 || failpoint.phase !== phase || failpoint.call !== progress.call) continue;
      if (failpoint.matches?.(progress) === false || armed.toSkip-- > 0) continue;
      armed.left--;
      failpoint.run(progress);
    }
    this.#armed = this.#armed.filter(({ left }) => left > 0);
  }
}
