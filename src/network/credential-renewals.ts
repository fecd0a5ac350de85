// When a credential is renewed that the other side refuses, although it has not ended by its own clock: it was revoked, or its
// key was changed. It is renewed at once, and if that does not help, ever more rarely.
import { Backoff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';

const policy = { base: 10_000, cap: 300_000 };

export interface CredentialSource<C> {
  /** Rejects if there is none. */
  current(): Promise<C>;
  /** Requests new credentials, which are then the current ones. */
  renew(): Promise<C>;
  isSame(one: C, other: C): boolean;
}

export class CredentialRenewals<C> {
  readonly #source: CredentialSource<C>;
  /** Renewals that did not help. */
  readonly #vain: Backoff;
  /** All that were refused at once share one renewal. */
  #renewing: Promise<C> | undefined;

  constructor(source: CredentialSource<C>, clock: Clock) {
    this.#source = source;
    this.#vain = new Backoff(policy, { clock });
  }

  /**
   * Sends with the current credential, and once more with another one if it is refused and there is another. `send` rejects
   * if it fails. `isRefused`: whether the failure says that the credential is not accepted.
   */
  async send<T>(
    send: (credential: C) => Promise<T>,
    isRefused: (error: unknown) => boolean,
    first: C,
  ): Promise<T> {
    try {
      return await send(first);
    } catch (error) {
      const other = isRefused(error) ? await this.#insteadOf(first) : undefined;
      if (other === undefined) throw error;
      const answer = await send(other);
      this.#vain.forget();
      return answer;
    }
  }

  /** Undefined if there is no other one for now. */
  async #insteadOf(refused: C): Promise<C | undefined> {
    try {
      const current = await (this.#renewing ?? this.#source.current());
      if (!this.#source.isSame(current, refused)) return current;
      const renewed = await this.#renew();
      return renewed === undefined || this.#source.isSame(renewed, refused) ? undefined : renewed;
    } catch {
      // The refusal says more than that there is no other credential.
      return undefined;
    }
  }

  #renew(): Promise<C> | undefined {
    if (this.#renewing !== undefined) return this.#renewing;
    if (this.#vain.isPausing) return undefined;
    this.#vain.fail();
    this.#renewing = this.#source.renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }
}
