// The only file that imports the SDK of ARM. The SDK authenticates and sends. The SDK must never retry, because our rate
// limits would not count the retries. Requests are raw, because its typed operations drop unknown members from a model,
// and a PUT replaces the whole model.
import { createComputeManagement } from '@azure/arm-compute/api';
import { createNetworkManagement } from '@azure/arm-network/api';
import {
  createHttpHeaders,
  type HttpClient,
  type PipelineRequest,
  type PipelineResponse,
} from '@azure/core-rest-pipeline';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';
import { boundedText, UnreadableAnswer } from '../../network/bounded-body.ts';
import { HttpSender, type HttpSenderOptions, type RequestSender } from '../../network/http-sender.ts';
import { DepartingRequest } from '../../network/departing-request.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Sending } from '../gate/cloud-call.ts';
import type { ArmAnswer, ArmApi, ArmRequest } from './arm-api.ts';
import { isSameService, readAnswer } from './arm-answer.ts';
import type { AzureCloud } from './azure-clouds.ts';
import { callErrorOf } from './call-error.ts';
import { type Credential, credentialOf, type IdentityOptions } from './identity-api.ts';

export interface AzureApiOptions {
  readonly http: HttpSenderOptions;
  readonly identity: Omit<IdentityOptions, 'httpClient'>;
  readonly cloud: AzureCloud;
  /** URL; undefined: the cloud's own. */
  readonly endpoint: string | undefined;
  /** Replaces the credentials of the environment. */
  readonly credential?: Credential;
  /** Sends requests instead of the network. */
  readonly sender?: RequestSender;
}

/** Limit for an answer about identities, in bytes. */
const maxTokenBytes = 2 ** 20;

/** Policies of the SDK that are left out: it would follow redirects with our token, and take packed bodies. */
const unwanted = ['redirectPolicy', 'decompressResponsePolicy', 'proxyPolicy', 'logPolicy'];

type Client = ReturnType<typeof createNetworkManagement> | ReturnType<typeof createComputeManagement>;

type Clients = Readonly<Record<ArmRequest['provider'], Client>>;

interface Asked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readable | undefined;
}

/** How long no other token is asked for after ARM refused a new one, in ms. */
const renewalPolicy = { base: 60_000, cap: 600_000 };

function clientsWith(
  credential: Credential,
  settings: NonNullable<Parameters<typeof createNetworkManagement>[2]>,
): Clients {
  // The paths of requests name their subscription.
  const clients = {
    network: createNetworkManagement(credential, '', settings),
    compute: createComputeManagement(credential, '', settings),
  };
  for (const { pipeline } of Object.values(clients))
    for (const name of unwanted) pipeline.removePolicy({ name });
  return clients;
}

/** A request on its way through the SDK. */
interface Passing {
  readonly departing: DepartingRequest;
  readonly isRepeatable: boolean;
}

/** A request for a token. Calls that need one at the same time share it. */
interface TokenRequest {
  /** Why the authority that gives tokens was not reached: the credentials may be right. */
  unreached?: unknown;
}

export class AzureApi implements ArmApi {
  readonly #endpoint: string;
  readonly #clock: Clock;
  readonly #sender: RequestSender;
  readonly #makeClients: (renewal: number) => Clients;
  #clients: Clients;
  /** How often tokens were asked for anew because ARM refused one. */
  #renewals = 0;
  readonly #renewal: Backoff;
  readonly #passing = new AsyncLocalStorage<Passing>();
  readonly #tokenRequest = new AsyncLocalStorage<TokenRequest>();

  constructor(options: AzureApiOptions) {
    const { cloud, endpoint = cloud.management } = options;
    this.#endpoint = endpoint;
    this.#clock = options.http.clock;
    this.#sender = options.sender ?? new HttpSender(options.http);
    this.#renewal = new Backoff(renewalPolicy, options.http);
    this.#makeClients = (renewal) => {
      const credential =
        options.credential ??
        this.#orUnreached(credentialOf({ ...options.identity, httpClient: this.#identityClient() }));
      // Azure takes both forms. The SDK keeps tokens of managed identities for the whole process, by this text.
      const audience = renewal % 2 === 0 ? cloud.audience : `${cloud.audience}/`;
      return clientsWith(credential, {
        endpoint,
        credentials: { scopes: [`${audience}/.default`] },
        retryOptions: { maxRetries: 0 },
        userAgentOptions: { userAgentPrefix: 'headwater' },
        httpClient: this.#armClient(),
      });
    };
    this.#clients = this.#makeClients(0);
  }

  async send(request: ArmRequest, sending: Sending): Promise<ArmAnswer> {
    const { method, ifMatch } = request;
    // With If-Match, a repeated PUT changes nothing, because the first one changed the ETag of the resource.
    const isRepeatable = method === 'GET' || ifMatch !== undefined;
    const departing = new DepartingRequest(sending);
    const passing: Passing = { departing, isRepeatable };
    try {
      const answer = await this.#passing.run(passing, () => this.#askUntilAccepted(request, sending.signal));
      return await readAnswer(request, answer, this.#clock);
    } catch (error) {
      throw departing.rejection(() => callErrorOf(error, departing.mayHaveLeft(error)));
    }
  }

  close(): void {
    this.#sender.close();
  }

  /** A token that ARM refuses is asked for anew once. If that is refused, too, it is no matter of tokens. */
  async #askUntilAccepted(request: ArmRequest, signal: AbortSignal): Promise<Asked> {
    const clients = this.#clients;
    const answer = await this.#ask(clients, request, signal);
    if (answer.status !== 401) {
      if (clients === this.#clients) this.#renewal.forget();
      return answer;
    }
    if (clients === this.#clients && !this.#mayRenew()) return answer;
    answer.body?.destroy();
    return this.#ask(this.#clients, request, signal);
  }

  #mayRenew(): boolean {
    if (this.#renewal.isPausing) return false;
    this.#renewal.fail();
    this.#clients = this.#makeClients(++this.#renewals);
    return true;
  }

  async #ask(
    clients: Clients,
    { method, provider, url, body, ifMatch }: ArmRequest,
    signal: AbortSignal,
  ): Promise<Asked> {
    // An answer must not lead our token elsewhere.
    if (!url.startsWith('/') && !isSameService(url, this.#endpoint))
      throw new UnreadableAnswer(`it leads to ${URL.parse(url)?.host ?? 'no host'}`);
    const client = clients[provider].pathUnchecked(url);
    const parameters = {
      headers: { accept: 'application/json', ...(ifMatch !== undefined && { 'if-match': ifMatch }) },
      abortSignal: signal,
    };
    const response =
      method === 'GET'
        ? await client.get(parameters).asNodeStream()
        : await client.put({ ...parameters, contentType: 'application/json', body }).asNodeStream();
    return {
      status: Number(response.status),
      headers: response.headers,
      body: response.body as Readable | undefined,
    };
  }

  /** Sends what the credentials ask. Their answers are short texts. */
  #identityClient(): HttpClient {
    return {
      sendRequest: async (request) => {
        request.headers.delete('accept-encoding');
        const { readableStreamBody, ...response } = await forward(this.#sender, request).catch(
          (error: unknown) => this.#noteUnreached(request, error),
        );
        const bodyAsText = await boundedText(readableStreamBody as Readable, {
          max: maxTokenBytes,
          clock: this.#clock,
        });
        return { ...response, bodyAsText };
      },
    };
  }

  /** The SDK says of any failure that no token was got. This credential says why its authority was not reached. */
  #orUnreached(credential: Credential): Credential {
    return {
      getToken: async (...asked) => {
        const request: TokenRequest = {};
        try {
          return await this.#tokenRequest.run(request, () => credential.getToken(...asked));
        } catch (error) {
          throw request.unreached ?? error;
        }
      },
    };
  }

  /** Only an instance of Azure has a metadata service, which is on http. */
  #noteUnreached({ url, abortSignal }: PipelineRequest, error: unknown): never {
    const request = this.#tokenRequest.getStore();
    if (request !== undefined && url.startsWith('https:') && abortSignal?.aborted !== true)
      request.unreached = error;
    throw error;
  }

  /** Runs after everything that can delay a request: credentials and body. */
  #armClient(): HttpClient {
    return {
      sendRequest: async (request) => {
        const passing = this.#passing.getStore();
        if (passing === undefined) throw new Error(`${request.url} is no request of ours`);
        // The SDK sends a request again if its token was rejected with a challenge.
        return passing.departing.depart(passing.isRepeatable, () => forward(this.#sender, request));
      },
    };
  }
}

async function forward(sender: RequestSender, request: PipelineRequest): Promise<PipelineResponse> {
  const { body } = request;
  if (body !== undefined && body !== null && typeof body !== 'string' && !ArrayBuffer.isView(body))
    throw new TypeError('a body is text');
  const answer = await sender.send({
    url: new URL(request.url),
    method: request.method,
    headers: request.headers.toJSON(),
    body: ArrayBuffer.isView(body)
      ? Buffer.from(body.buffer, body.byteOffset, body.byteLength)
      : (body ?? undefined),
    signal: request.abortSignal as AbortSignal | undefined,
  });
  return {
    request,
    status: answer.statusCode,
    headers: createHttpHeaders(answer.headers),
    readableStreamBody: answer.body,
  };
}
