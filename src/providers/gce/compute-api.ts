// Sends single requests to Compute Engine over REST: with a token of the metadata service, and without any retry.
import type { Clock } from '../../runtime/clock.ts';
import { untrustedCertificate } from '../../network/certificate-trouble.ts';
import { HttpSender, type HttpSenderOptions, type RequestSender } from '../../network/http-sender.ts';
import { checkedOnceConnected, SilentConnection } from '../../network/pre-send-agents.ts';
import { CallError, type Sending } from '../gate/cloud-call.ts';
import { AccessTokens } from './access-tokens.ts';
import { readBody } from './compute-answer.ts';
import type { InstancePath } from './ids.ts';

export type ComputeAction = 'instances.get' | 'instances.updateNetworkInterface' | 'zoneOperations.get';

export interface ComputeRequest {
  readonly action: ComputeAction;
  readonly method: 'GET' | 'PATCH';
  readonly where: Pick<InstancePath, 'project' | 'zone'>;
  /** Below the zone. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface ComputeApiOptions extends HttpSenderOptions {
  /** URL with the version. */
  readonly endpoint: string;
  /** URL of the metadata service. */
  readonly metadataEndpoint: string;
  /** Sends requests instead of the network. */
  readonly sender?: RequestSender;
  /** Gives tokens instead of the metadata service. */
  readonly tokens?: Pick<AccessTokens, 'forget' | 'get'>;
}

/** What sends requests: the network, or a model in the same process. */
export type ComputeSource = Pick<ComputeApi, 'send'>;

export class ComputeApi {
  readonly #endpoint: string;
  readonly #clock: Clock;
  readonly #sender: RequestSender;
  readonly #tokens: Pick<AccessTokens, 'forget' | 'get'>;

  constructor(options: ComputeApiOptions) {
    this.#endpoint = options.endpoint;
    this.#clock = options.clock;
    this.#sender = options.sender ?? new HttpSender(options);
    this.#tokens = options.tokens ?? new AccessTokens(options.metadataEndpoint, options.clock);
  }

  /** Resolves to the JSON object of a success. Rejects with a CallError, or with what `onSend` threw. */
  async send(request: ComputeRequest, { signal, onSend, onConnected }: Sending): Promise<object> {
    const passing: Passing = { isSent: false, refusal: undefined };
    try {
      const token = await this.#tokens.get(signal);
      const runCheck = (check: () => void): void => {
        try {
          check();
        } catch (reason) {
          passing.refusal = { reason };
          throw reason;
        }
      };
      runCheck(onSend);
      passing.isSent = true;
      const check = (): void => runCheck(onConnected ?? (() => undefined));
      const answer = await this.#depart(request, { token, signal, check });
      return await readBody(answer, this.#clock);
    } catch (error) {
      if (passing.refusal !== undefined) throw passing.refusal.reason;
      const known = callErrorOf(error, passing);
      if (known.status === 401) this.#tokens.forget();
      throw known;
    }
  }

  close(): void {
    this.#sender.close();
  }

  #depart(
    { action, method, where, path, query = {}, body }: ComputeRequest,
    {
      token,
      signal,
      check,
    }: { readonly token: string; readonly signal: AbortSignal; readonly check: () => void },
  ): ReturnType<RequestSender['send']> {
    const base = `${this.#endpoint}/projects/${encodeURIComponent(where.project)}/zones/${where.zone}`;
    const url = new URL(`${base}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'user-agent': 'headwater',
      ...(text !== undefined && { 'content-type': 'application/json' }),
    };
    const send = () => this.#sender.send({ url, method, headers, body: text, signal });
    // A change carries the fingerprint of what it changes, so a second one of the same is refused.
    return checkedOnceConnected(
      { check, isRepeatable: action !== 'instances.updateNetworkInterface' },
      send,
    ).catch((error: unknown) => {
      if (!(error instanceof SilentConnection)) throw error;
      return checkedOnceConnected({ check, isRepeatable: false }, send);
    });
  }
}

/** One request on its way. */
interface Passing {
  isSent: boolean;
  refusal: { readonly reason: unknown } | undefined;
}

/** Codes for a request that never left. */
const notSent: ReadonlySet<unknown> = new Set([
  ...untrustedCertificate,
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'NotConnected',
  'ProxyError',
]);

function callErrorOf(error: unknown, { isSent }: Pick<Passing, 'isSent'>): CallError {
  if (error instanceof CallError) return error;
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return new CallError(
    {
      result: isSent && !notSent.has(code) ? 'noAnswer' : 'notSent',
      code: typeof code === 'string' ? code : 'NoAnswer',
      message: typeof message === 'string' ? message : String(error),
    },
    { cause: error },
  );
}
