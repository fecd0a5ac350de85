// Things that are to happen when a controller comes to a certain call.
import type { CallInProgress } from './ports.ts';
import type { CallPhase, PortCall } from './scenario.ts';

export interface Tripwire {
  readonly call: PortCall;
  readonly phase: CallPhase;
  /** Calls that pass before. */
  readonly nth: number;
  /** Whether this very call is meant. */
  readonly fits?: (progress: CallInProgress) => boolean;
  /** How often; once if not given. */
  readonly times?: number;
  readonly act: (progress: CallInProgress) => void;
}

interface Armed {
  readonly wire: Tripwire;
  toPass: number;
  left: number;
}

export class Tripwires {
  #armed: Armed[] = [];

  arm(wire: Tripwire): void {
    this.#armed.push({ wire, toPass: wire.nth, left: wire.times ?? 1 });
  }

  clear(): void {
    this.#armed = [];
  }

  pass(phase: CallPhase, progress: CallInProgress): void {
    if (this.#armed.length === 0) return;
    for (const armed of this.#armed) {
      const { wire } = armed;
      if (armed.left <= 0 || wire.phase !== phase || wire.call !== progress.call) continue;
      if (wire.fits?.(progress) === false || armed.toPass-- > 0) continue;
      armed.left--;
      wire.act(progress);
    }
    this.#armed = this.#armed.filter(({ left }) => left > 0);
  }
}
