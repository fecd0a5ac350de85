// Idempotency by client token: a repeated request returns what the first one created
// (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html).
import { Ec2Refusal } from './ec2-refusal.ts';

interface Remembered {
  readonly parameters: string;
  readonly made: string;
}

export class ClientTokens {
  readonly #remembered = new Map<string, Remembered>();

  /**
   * Returns what the token already created, or calls `make` and remembers the result. Refuses a token with
   * other parameters. `made` is an id; its resource may be gone since.
   */
  once(
    request: { readonly action: string; readonly token: string | undefined; readonly parameters: unknown },
    make: () => string,
  ): { readonly made: string; readonly repeated: boolean } {
    if (request.token === undefined) return { made: make(), repeated: false };
    const key = `${request.action} ${request.token}`;
    const parameters = JSON.stringify(request.parameters);
    const known = this.#remembered.get(key);
    if (known === undefined) {
      const made = make();
      this.#remembered.set(key, { parameters, made });
      return { made, repeated: false };
    }
    if (known.parameters !== parameters) throw mismatch();
    return { made: known.made, repeated: true };
  }
}

/** EC2's refusal of a token reused for another request. */
export function mismatch(): Ec2Refusal {
  return new Ec2Refusal(
    'IdempotentParameterMismatch',
    'Arguments on this idempotent request are inconsistent with arguments used in previous request(s).',
  );
}
