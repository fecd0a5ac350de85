// Idempotency by client token: a repeated request returns what the first one made
// (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html).

interface Remembered<T> {
  readonly parameters: string;
  readonly made: T;
}

export class ClientTokens<T> {
  readonly #remembered = new Map<string, Remembered<T>>();
  readonly #mismatch: () => Error;

  /** `mismatch`: the cloud's refusal of a token that came with other parameters before. */
  constructor(mismatch: () => Error) {
    this.#mismatch = mismatch;
  }

  /**
   * Returns what the token already made, or calls `make` and remembers the result. What was made may be gone
   * since.
   */
  once(
    request: { readonly action: string; readonly token: string | undefined; readonly parameters: unknown },
    make: () => T,
  ): { readonly made: T; readonly repeated: boolean } {
    if (request.token === undefined) return { made: make(), repeated: false };
    const key = `${request.action} ${request.token}`;
    const parameters = JSON.stringify(request.parameters);
    const known = this.#remembered.get(key);
    if (known === undefined) {
      const made = make();
      this.#remembered.set(key, { parameters, made });
      return { made, repeated: false };
    }
    if (known.parameters !== parameters) throw this.#mismatch();
    return { made: known.made, repeated: true };
  }
}
