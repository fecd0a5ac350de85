// Sends calls to ECS and VPC with the vendor's models, credentials and signature, over our own connections. The vendor's
// transport opens a connection for each request, and it can be neither cancelled nor fenced once connected.
import openApi from '@alicloud/openapi-core/dist/utils.js';
import * as dara from '@darabonba/typescript';
import { HttpSender, type RequestSender } from '../../network/http-sender.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { CredentialRenewals } from '../../network/credential-renewals.ts';
import { DepartingRequest } from '../../network/departing-request.ts';
import { isRead } from '../gate/action-client.ts';
import { CallError, callErrorOf, type Sending } from '../gate/cloud-call.ts';
import { CredentialChain, type CredentialChainOptions, type Keys } from './credentials-api.ts';
import { failureOf } from './errors.ts';
import { readBody } from './rpc-answer.ts';
import type { RpcAction, RpcApi, RpcInput, RpcOutput } from './rpc-api.ts';
import { outputOf, parametersOf, productOf, type RpcProduct } from './models-api.ts';

export interface AlibabaApiOptions extends Omit<CredentialChainOptions, 'stsRegion'> {
  readonly regionId: string;
  /** URLs of the products; undefined: its own in the VPC. */
  readonly endpoints: Readonly<Record<RpcProduct['name'], string | undefined>>;
  /** Sends requests instead of the network. */
  readonly sender?: RequestSender;
}

const algorithm = 'ACS3-HMAC-SHA256';
/** Hash of the body of every request: all parameters are in the query. */
const payload = openApi.default.hash(Buffer.from(''), algorithm).toString('hex');

/**
 * Changes that do no harm when they arrive twice: they are the same by their client token. What another release names may
 * belong to others by then.
 */
const repeatable: ReadonlySet<RpcAction> = new Set(['AssignPrivateIpAddresses', 'CreateNetworkInterface']);

export class AlibabaApi implements RpcApi {
  readonly #options: AlibabaApiOptions;
  readonly #sender: RequestSender;
  readonly #chain: CredentialChain;
  readonly #renewals: CredentialRenewals<Keys>;

  constructor(options: AlibabaApiOptions) {
    this.#options = options;
    this.#sender = options.sender ?? new HttpSender(options.http);
    // Where the products are reached within the VPC, so is the token service.
    const { regionId, endpoints } = options;
    const isWithinVpc = endpoints.ecs === undefined && endpoints.vpc === undefined;
    const chain = new CredentialChain({ ...options, ...(isWithinVpc && { stsRegion: regionId }) });
    this.#chain = chain;
    const source = { current: () => chain.keys(), renew: () => chain.renew(), isSame: areSame };
    this.#renewals = new CredentialRenewals<Keys>(source, options.http.clock);
  }

  async send<A extends RpcAction>(action: A, input: RpcInput<A>, sending: Sending): Promise<RpcOutput<A>> {
    const departing = new DepartingRequest(sending);
    const { signal } = sending;
    try {
      const first = await this.#credentials(signal);
      // A request that is sent again is signed again: the cloud refuses a nonce that it has seen, and the first request may
      // have arrived.
      const send = async (keys: Keys): Promise<unknown> => {
        const answer = await departing.depart(isRead(action) || repeatable.has(action), () =>
          this.#sender.send({ ...this.#signed(action, input, keys), method: 'POST', body: '', signal }),
        );
        return readBody(answer, this.#options.http.clock);
      };
      const isRefused = (error: unknown): boolean => isOfCredentials(action, error);
      return outputOf(action, await this.#renewals.send(send, isRefused, first));
    } catch (error) {
      throw departing.rejection(() => callErrorOf(error, departing.mayHaveLeft(error)));
    }
  }

  close(): void {
    this.#chain.close();
    this.#sender.close();
  }

  #signed<A extends RpcAction>(action: A, input: RpcInput<A>, keys: Keys): SignedRequest {
    const { regionId, endpoints, http } = this.#options;
    const { name, version } = productOf(action);
    const url = new URL(endpoints[name] ?? `https://${endpointOf(name, regionId)}`);
    const query = parametersOf(action, input, regionId);
    const request = new dara.Request();
    request.method = 'POST';
    request.pathname = '/';
    request.query = { ...query };
    request.headers = {
      host: url.host,
      'user-agent': 'headwater',
      accept: 'application/json',
      'x-acs-action': action,
      'x-acs-version': version,
      'x-acs-date': new Date(http.clock.wall()).toISOString().replace(/\.\d{3}Z$/, 'Z'),
      'x-acs-signature-nonce': openApi.default.getNonce(),
      'x-acs-content-sha256': payload,
      ...(keys.securityToken !== '' && {
        'x-acs-accesskey-id': keys.accessKeyId,
        'x-acs-security-token': keys.securityToken,
      }),
    };
    const { accessKeyId, accessKeySecret } = keys;
    const authorization = openApi.default.getAuthorization(
      request,
      algorithm,
      payload,
      accessKeyId,
      accessKeySecret,
    );
    url.search = encoded(query);
    return { url, headers: { ...request.headers, authorization } };
  }

  /** The chain itself cannot be cancelled. */
  async #credentials(signal: AbortSignal): Promise<Keys> {
    const asked = this.#chain.keys();
    await raceAbort(asked, signal);
    signal.throwIfAborted();
    return asked;
  }
}

function areSame(one: Keys, other: Keys): boolean {
  return one.accessKeyId === other.accessKeyId && one.securityToken === other.securityToken;
}

function isOfCredentials(name: RpcAction, error: unknown): boolean {
  return error instanceof CallError && failureOf({ name }, error).credentials !== undefined;
}

interface SignedRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** The endpoint of a product within VPCs, which needs no way to the internet. */
export function endpointOf(product: string, regionId: string): string {
  return openApi.default.getEndpointRules(product, regionId, 'regional', 'vpc', '');
}

/** As in the signature: RFC 3986, sorted. */
function encoded(query: Readonly<Record<string, string>>): string {
  const escape = (text: string): string =>
    encodeURIComponent(text).replace(
      /[!'()*]/g,
      (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  return Object.keys(query)
    .sort()
    .map((name) => `${escape(name)}=${escape(query[name] ?? '')}`)
    .join('&');
}
