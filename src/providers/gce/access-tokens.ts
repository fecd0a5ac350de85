// The token of the service account of the instance where this process runs, or of the Workload Identity of its pod, from the
// metadata service (https://cloud.google.com/compute/docs/access/authenticate-workloads).
import type { Clock } from '../../runtime/clock.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { jsonIn } from '../../network/bounded-body.ts';
import { askMetadata } from '../../network/metadata-request.ts';
import { CallError } from '../gate/cloud-call.ts';
import { textAt, valueAt } from '../../runtime/json.ts';

const path = '/computeMetadata/v1/instance/service-accounts/default/token';
/** Time limit of a request, in ms. */
const timeout = 5000;
/** The service has a new token from 5 minutes before the end of the old one, in ms. */
const margin = 225_000;

interface Token {
  readonly text: string;
  /** In monotonic ms. */
  readonly until: number;
}

export class AccessTokens {
  readonly #url: string;
  readonly #clock: Clock;
  #token: Token | undefined;
  #asking: Promise<string> | undefined;

  /** `endpoint`: URL of the metadata service. */
  constructor(endpoint: string, clock: Clock) {
    this.#url = `${endpoint}${path}`;
    this.#clock = clock;
  }

  /** The current token. Concurrent callers share a request. Rejects with a CallError, or with the signal's reason. */
  async get(signal: AbortSignal): Promise<string> {
    if (this.#token !== undefined && this.#clock.monotonic() < this.#token.until) return this.#token.text;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    const asking = this.#asking;
    await raceAbort(asking, signal);
    signal.throwIfAborted();
    return asking;
  }

  async #ask(): Promise<string> {
    const startedAt = this.#clock.monotonic();
    const headers = { 'Metadata-Flavor': 'Google' };
    try {
      const body = await askMetadata(this.#url, { headers, signal: AbortSignal.timeout(timeout) });
      this.#token = tokenIn(body, startedAt);
      return this.#token.text;
    } catch (cause) {
      const message = `the metadata service at ${new URL(this.#url).host} gives no token: ${(cause as Error).message}`;
      throw new CallError({ result: 'notSent', code: 'CredentialsError', message }, { cause });
    }
  }

  /** The cloud does not accept it. */
  forget(): void {
    this.#token = undefined;
  }
}

function tokenIn(body: string, startedAt: number): Token {
  // The body may hold a secret, so no error quotes it.
  const shown = jsonIn(body);
  const text = textAt(shown, 'access_token') ?? '';
  const seconds = valueAt(shown, 'expires_in');
  if (!/^[\x21-\x7e]{1,4096}$/.test(text)) throw new Error('its answer holds no token');
  const lifetime = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : 0;
  return { text, until: startedAt + lifetime - margin };
}
