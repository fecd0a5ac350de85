// Idempotency by client token: a request that is repeated gets the thing that the first one made
// (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html).
import { Ec2Refusal } from './ec2-refusal.ts';

interface Remembered {
  readonly parameters: string;
  readonly made: string;
}

export class ClientTokens {
  readonly #remembered = new Map<string, Remembered>();

  /**
   * What the token already stands for, or `make`s it and remembers. A token that comes again with other parameters
   * is refused. `made` is an id; what it names may be gone since.
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

/** EC2’s refusal of a token that comes again for something else. */
export function mismatch(): Ec2Refusal {
  return new Ec2Refusal(
    'IdempotentParameterMismatch',
    'Arguments on this idempotent request are inconsistent with arguments used in previous request(s).',
  );
}
