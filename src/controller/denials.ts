// What the cloud does not permit Headwater, told once for as long as it stays so: the calls that need it are made again and
// again, for many nodes, and each says so where it belongs.
import type { Logger } from '../observability/logger.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import { remedyFor } from '../node/diagnosis.ts';
import type { Clock } from '../scheduling/clock.ts';
import { told } from './told-failure.ts';

export interface Denial {
  /** As the cloud's policies name it. */
  readonly permission: string;
  /** The call that needs it. */
  readonly action: string;
  readonly why: string;
  readonly remedy: string;
}

interface Episode {
  readonly denial: Denial;
  readonly isOver: boolean;
  /** When it was told last, in monotonic ms. */
  readonly toldAt: number;
  readonly isTold: boolean;
}

/** What is permitted for some things and not for others comes and goes: it is told no more often than this, in ms. */
const quiet = 600_000;

export class Denials {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Logger;
  readonly #episodes = new Map<string, Episode>();

  constructor({ clock, log }: { readonly clock: Pick<Clock, 'monotonic'>; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** What is not permitted, as the last calls that need it showed. */
  get list(): readonly Denial[] {
    return [...this.#episodes.values()].filter(({ isOver }) => !isOver).map(({ denial }) => denial);
  }

  /** `failure`: undefined for a call that succeeded. */
  callEnded(action: string, failure: CloudFailure | undefined): void {
    if (failure === undefined) this.#permitted(action);
    else if (failure.permission !== undefined) this.#denied(failure, failure.permission);
  }

  #denied(failure: CloudFailure, permission: string): void {
    const known = this.#episodes.get(permission);
    if (known?.isOver === false) return;
    const now = this.#clock.monotonic();
    const isTold = known === undefined || now >= known.toldAt + quiet;
    const { action, message: why } = failure;
    const remedy = remedyFor(failure) ?? '';
    const toldAt = isTold ? now : known.toldAt;
    this.#episodes.set(permission, {
      denial: { permission, action, why, remedy },
      isOver: false,
      toldAt,
      isTold,
    });
    if (isTold)
      this.#log.warn('the cloud does not permit what Headwater needs', { ...told(failure), remedy });
  }

  #permitted(action: string): void {
    for (const [permission, episode] of this.#episodes) {
      if (episode.isOver || episode.denial.action !== action) continue;
      this.#episodes.set(permission, { ...episode, isOver: true });
      if (episode.isTold)
        this.#log.info('the cloud permits what Headwater needs again', { permission, action });
    }
  }
}
