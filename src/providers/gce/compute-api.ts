// Sends single requests to Compute Engine over REST: with a token of the metadata service, and without any retry.
import type { Clock } from '../../runtime/clock.ts';
import { HttpSender, type HttpSenderOptions, type RequestSender } from '../../network/http-sender.ts';
import { CredentialRenewals } from '../../network/credential-renewals.ts';
import { DepartingRequest } from '../../network/departing-request.ts';
import { CallError, callErrorOf, type Sending } from '../gate/cloud-call.ts';
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

export interface ComputeApiOptions {
  readonly http: HttpSenderOptions;
  /** URL with the version. */
  readonly endpoint: string;
  /** URL of the metadata service. */
  readonly metadataEndpoint: string;
  /** Sends requests instead of the network. */
  readonly sender?: RequestSender;
  /** Gives tokens instead of the metadata service. */
  readonly tokens?: Pick<AccessTokens, 'forget' | 'get'>;
}

/** A sender of requests: the network, or a model in the same process. */
export type ComputeSource = Pick<ComputeApi, 'send'>;

export class ComputeApi {
  readonly #endpoint: string;
  readonly #clock: Clock;
  readonly #sender: RequestSender;
  readonly #tokens: Pick<AccessTokens, 'forget' | 'get'>;
  readonly #renewals: CredentialRenewals<string>;

  constructor(options: ComputeApiOptions) {
    this.#endpoint = options.endpoint;
    const { clock } = options.http;
    this.#clock = clock;
    this.#sender = options.sender ?? new HttpSender(options.http);
    const tokens = options.tokens ?? new AccessTokens(options.metadataEndpoint, clock);
    this.#tokens = tokens;
    const current = (): Promise<string> => tokens.get(new AbortController().signal);
    const renew = (): Promise<string> => {
      tokens.forget();
      return current();
    };
    const source = {
      current,
      renew,
      isSame: (one: string, other: string) => one === other,
    };
    this.#renewals = new CredentialRenewals(source, clock);
  }

  /** Resolves to the JSON object of a success. Rejects with a CallError, or with what `onSend` threw. */
  async send(request: ComputeRequest, sending: Sending): Promise<object> {
    const { signal } = sending;
    const departing = new DepartingRequest(sending);
    try {
      const token = await this.#tokens.get(signal);
      // A change carries the fingerprint of what it changes, so a second one of the same is refused.
      const isRepeatable = request.action !== 'instances.updateNetworkInterface';
      const send = async (accepted: string): Promise<object> =>
        readBody(
          await departing.depart(isRepeatable, () => this.#ask(request, accepted, signal)),
          this.#clock,
        );
      return await this.#renewals.send(send, isUnauthorized, token);
    } catch (error) {
      throw departing.rejection(() => callErrorOf(error, departing.mayHaveLeft(error)));
    }
  }

  close(): void {
    this.#sender.close();
  }

  #ask(
    { method, where, path, query = {}, body }: ComputeRequest,
    token: string,
    signal: AbortSignal,
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
    return this.#sender.send({ url, method, headers, body: text, signal });
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof CallError && error.status === 401;
}
