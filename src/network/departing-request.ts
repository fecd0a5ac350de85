// One request on its way: it leaves only if its sender still lets it, and once more where the first attempt fell silent. Tells
// apart what never left from what has no answer.
import { untrustedCertificate } from './certificate-trouble.ts';
import { checkedOnceConnected, SilentConnection } from './pre-send-agents.ts';

/** Both throw if the request may not leave. */
export interface LeavingChecks {
  /** Called immediately before the request leaves. */
  readonly onSend: () => void;
  /** Called once there is a connection. */
  readonly onConnected?: () => void;
}

export class DepartingRequest {
  readonly #checks: LeavingChecks;
  #isSent = false;
  /** The error that a check threw. */
  #refusal: { readonly reason: unknown } | undefined;

  constructor(checks: LeavingChecks) {
    this.#checks = checks;
  }

  /**
   * Call it after everything that can delay a request; again only for what an SDK sends again with another token.
   * `isRepeatable`: whether the request may be sent twice.
   */
  async depart<T>(isRepeatable: boolean, send: () => Promise<T>): Promise<T> {
    const { onSend, onConnected = () => undefined } = this.#checks;
    if (!this.#isSent) this.#runCheck(onSend);
    this.#isSent = true;
    const check = (): void => this.#runCheck(onConnected);
    try {
      return await checkedOnceConnected({ check, isRepeatable }, send);
    } catch (error) {
      if (!(error instanceof SilentConnection)) throw error;
      return checkedOnceConnected({ check, isRepeatable: false }, send);
    }
  }

  /** Whether the request that failed with this error may have arrived. */
  mayHaveLeft(error: unknown): boolean {
    return this.#isSent && !hasNeverLeft(error);
  }

  /** The error that its sender rejects with: that of a check, or the error of the request. */
  rejection(convert: () => Error): unknown {
    return this.#refusal === undefined ? convert() : this.#refusal.reason;
  }

  #runCheck(check: () => void): void {
    try {
      check();
    } catch (reason) {
      this.#refusal = { reason };
      throw reason;
    }
  }
}

/** Codes for a request that never left. */
export const neverLeft: ReadonlySet<unknown> = new Set([
  ...untrustedCertificate,
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'NotConnected',
  'ProxyError',
]);

/** Whether the error itself says so. */
export function hasNeverLeft(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return neverLeft.has(code);
}
