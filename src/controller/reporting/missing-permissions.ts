// Tracks permissions that the cloud denies, and logs each one once while it lasts. The calls that need it
// repeat for many nodes, and each reports its own failure.
import type { Logger } from '../../observability/logger.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { policyOf } from '../../providers/contract/failure-policy.ts';
import { remedyFor } from '../../node/conditions/call-condition.ts';
import type { Clock } from '../../runtime/clock.ts';
import { failureFields } from './failure-fields.ts';

export interface MissingPermission {
  /** Name in the cloud's policies; `credentials` if these are not accepted. */
  readonly permission: string;
  /** The call that needs it. */
  readonly action: string;
  readonly why: string;
  readonly remedy: string;
}

interface Episode {
  readonly missingPermission: MissingPermission;
  readonly isOver: boolean;
  /** When it was last logged, in monotonic ms. */
  readonly loggedAt: number;
  readonly isLogged: boolean;
  /** When a call was last denied, in monotonic ms. */
  readonly deniedAt: number;
}

/**
 * Minimum interval between log lines about one permission, in ms. A permission granted for some resources
 * only would flap.
 */
const quiet = 600_000;

/**
 * How long a permission that nothing asks for any more is listed, in ms. It may have been granted meanwhile. What a node still
 * lacks is asked for at least once an hour.
 */
const remembered = 2 * 3_600_000;

/** The entry of credentials that the cloud does not accept, so that it tells of no permission. */
const credentials = 'credentials';

export class MissingPermissions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Logger;
  readonly #episodes = new Map<string, Episode>();

  constructor({ clock, log }: { readonly clock: Pick<Clock, 'monotonic'>; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Permissions denied at the latest call that needed them, unless that was long ago. */
  get list(): readonly MissingPermission[] {
    const now = this.#clock.monotonic();
    return [...this.#episodes.values()]
      .filter(({ isOver, deniedAt }) => !isOver && now < deniedAt + remembered)
      .map(({ missingPermission }) => missingPermission);
  }

  /** `failure`: undefined for a successful call. */
  callEnded(action: string, failure: CloudFailure | undefined): void {
    if (failure?.permission !== undefined) this.#denied(failure, failure.permission);
    else if (failure?.credentials !== undefined) this.#refused(failure);
    // Who may not ask is not told that nothing is there.
    else if (failure === undefined || policyOf(failure).invalidates === 'existence') this.#permitted(action);
  }

  /** No call of any action is accepted, and who makes it logs why. */
  #refused(failure: CloudFailure): void {
    const { action, message: why } = failure;
    const now = this.#clock.monotonic();
    this.#episodes.set(credentials, {
      missingPermission: { permission: credentials, action, why, remedy: remedyFor(failure) ?? '' },
      isOver: false,
      loggedAt: now,
      isLogged: false,
      deniedAt: now,
    });
  }

  #denied(failure: CloudFailure, permission: string): void {
    const known = this.#episodes.get(permission);
    const now = this.#clock.monotonic();
    if (known?.isOver === false) {
      this.#episodes.set(permission, { ...known, deniedAt: now });
      return;
    }
    const isLogged = known === undefined || now >= known.loggedAt + quiet;
    const { action, message: why, encodedDenial } = failure;
    const remedy = remedyFor(failure) ?? '';
    const loggedAt = isLogged ? now : known.loggedAt;
    this.#episodes.set(permission, {
      missingPermission: { permission, action, why, remedy },
      isOver: false,
      loggedAt,
      isLogged,
      deniedAt: now,
    });
    if (!isLogged) return;
    // Only here: it has thousands of characters, and is another one in each answer.
    const encoded = encodedDenial === undefined ? {} : { encodedDenial };
    this.#log.warn('missing cloud permission', { ...failureFields(failure), remedy, ...encoded });
  }

  #permitted(action: string): void {
    for (const [permission, episode] of this.#episodes) {
      const isMet = permission === credentials || episode.missingPermission.action === action;
      if (episode.isOver || !isMet) continue;
      this.#episodes.set(permission, { ...episode, isOver: true });
      if (episode.isLogged) this.#log.info('cloud permission granted again', { permission, action });
    }
  }
}
