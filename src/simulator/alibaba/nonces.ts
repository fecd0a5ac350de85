// Nonces of signatures: none may come twice while its request would still be accepted.
import { RpcRefusal } from './rpc-refusal.ts';

/** Longer than the time of a request may differ from ours. */
const rememberedMs = 30 * 60_000;

export class Nonces {
  readonly #seen = new Map<string, number>();

  /** Refuses a nonce that came before. `now`: the clients' wall clock in ms. */
  take(nonce: string, now: number): void {
    for (const [old, time] of this.#seen) {
      if (time > now - rememberedMs) break;
      this.#seen.delete(old);
    }
    if (nonce === '' || this.#seen.has(nonce)) {
      throw new RpcRefusal('SignatureNonceUsed', 'Specified signature nonce was used already.');
    }
    this.#seen.set(nonce, now);
  }
}
