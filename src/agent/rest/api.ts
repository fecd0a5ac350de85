// The REST calls of the agent, as data in and data out. Paths, queries, statuses and bodies of /v1/ipam are those of the
// Cilium agent's API; a failure is a JSON string.
import { addressText, canonicalAddress, type Family, familyOf } from '../../blocks/set/cidr.ts';
import { parseGoDuration } from '../../config/go-duration.ts';
import type { AddressDetails } from '../allocators/allocator.ts';
import type { Attachment } from '../ipam/holdings.ts';
import type { Allocated, Ipam } from '../ipam/ipam.ts';
import type { IpamError, IpamErrorKind } from '../ipam/ipam-error.ts';
import { type Answerer, parseCall } from '../cni/answerer.ts';
import { SharedRendering } from '../../observability/shared-rendering.ts';
import type { Clock } from '../../runtime/clock.ts';

export interface ApiRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body?: string;
  /** Default: JSON. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiOptions {
  /** Addresses come from elsewhere: requests for them are answered with 501. */
  readonly isDelegated: boolean;
  /** Whether the pod of an attachment seems to be gone. */
  readonly isSuspected: (attachment: Attachment) => boolean;
  readonly clock: Clock;
  readonly ipam: Ipam;
  readonly answerer: Pick<Answerer, 'answer'>;
  /** The dependency that the agent waits for before it can serve; undefined once it serves. */
  readonly waitingFor: () => string | undefined;
  readonly metrics: { readonly contentType: string; scrape(): Promise<string> };
  /** How long an address that was requested with `expiration: true` is held, in ms. */
  readonly expiration: number;
}

type Handler = (request: ApiRequest, ip: string, signal: AbortSignal) => ApiAnswer | Promise<ApiAnswer>;

interface Route {
  readonly path: RegExp;
  readonly methods: Readonly<Record<string, Handler>>;
}

const plainText = 'text/plain; charset=utf-8';

export class Api {
  readonly #options: ApiOptions;
  readonly #scrape: SharedRendering<string>;
  readonly #routes: readonly Route[] = [
    { path: /^\/v1\/cni$/, methods: { POST: (request, _, signal) => this.#cni(request, signal) } },
    { path: /^\/v1\/healthz$/, methods: { GET: () => this.#health() } },
    {
      path: /^\/v1\/ipam$/,
      methods: { GET: () => this.#list(), POST: (request) => this.#allocateNext(request) },
    },
    {
      path: /^\/v1\/ipam\/([^/]+)$/,
      methods: {
        POST: (request, ip) => this.#allocate(request, ip),
        DELETE: (request, ip) => this.#release(request, ip),
      },
    },
    {
      path: /^\/v1\/ipam\/([^/]+)\/expiration$/,
      methods: {
        POST: (request, ip) => this.#startTimer(request, ip),
        DELETE: (request, ip) => this.#stopTimer(request, ip),
      },
    },
    {
      path: /^\/v1\/debuginfo$/,
      methods: {
        GET: () => ({ status: 200, contentType: plainText, body: this.#options.ipam.debugStatus() }),
      },
    },
    { path: /^\/metrics$/, methods: { GET: () => this.#metrics() } },
  ];

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#scrape = new SharedRendering(options.clock, () => options.metrics.scrape());
  }

  handle(request: ApiRequest, signal: AbortSignal): ApiAnswer | Promise<ApiAnswer> {
    const { path, method } = request;
    const match = this.#match(path);
    if (match === undefined) return json(404, `there is no ${path.slice(0, 200)}`);
    if (this.#options.isDelegated && isAboutAddresses(path))
      return json(501, 'with ipam=delegated-plugin, addresses come from another plugin');
    const { route, ip } = match;
    const handler = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
    if (handler !== undefined) return handler(request, unescaped(ip), signal);
    const allow = Object.keys(route.methods).join(', ');
    return { ...json(405, `${path} answers ${allow}`), headers: { allow } };
  }

  #match(path: string): { readonly route: Route; readonly ip: string } | undefined {
    for (const route of this.#routes) {
      const found = route.path.exec(path);
      if (found !== null) return { route, ip: found[1] ?? '' };
    }
    return undefined;
  }

  async #cni({ body }: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
    const call = parseCall(body);
    if (call === undefined) return json(400, 'the body is no call of the plugin');
    const { exit, out, note } = await this.#options.answerer.answer(call, signal);
    const headers = { 'x-cni-exit': String(exit), ...(note !== undefined && { 'x-cni-note': note }) };
    return { status: 200, body: out, headers };
  }

  #health(): ApiAnswer {
    const { ipam, waitingFor } = this.#options;
    const served = ipam.pools.servedFamilies();
    const reason = waitingFor();
    const ofFamily = (family: Family): readonly string[] =>
      [...ipam.holdings.held()].filter(({ ip }) => familyOf(ip) === family).map(({ ip }) => ip);
    const allocations = Object.fromEntries(
      [...ipam.holdings.held()].map(({ pool, ip, owner }) => [
        pool === ipam.pools.defaultPool ? ip : `${pool}/${ip}`,
        owner,
      ]),
    );
    const ipv4 = served.includes('ipv4') ? ofFamily('ipv4') : [];
    const ipv6 = served.includes('ipv6') ? ofFamily('ipv6') : [];
    return json(reason === undefined ? 200 : 503, {
      ipam: { status: ipam.pools.status(), allocations, ipv4, ipv6 },
      ...(reason !== undefined && { waitingFor: reason }),
    });
  }

  #list(): ApiAnswer {
    const { ipam, isSuspected } = this.#options;
    const pools = ipam.figures();
    const addresses = Object.fromEntries(
      [...ipam.holdings.held()].map((held) => {
        const { ip, owner, pool, expiry } = held;
        const attachment = ipam.holdings.attachmentOf(held);
        const name = attachment && {
          network: attachment.network,
          container: attachment.container,
          interface: attachment.interface,
        };
        return [
          ip,
          {
            owner,
            pool,
            ...(expiry !== undefined && { expires: new Date(expiry.at).toISOString() }),
            ...(name !== undefined && { attachment: name }),
            ...(attachment !== undefined && isSuspected(attachment) && { suspected: true }),
            ...detailsOnTheWire(ipam.details(held)),
          },
        ];
      }),
    );
    const capacity = pools.reduce((sum, pool) => sum + pool.capacity, 0);
    const excluded = Object.fromEntries(ipam.pools.excluded);
    return json(200, { status: ipam.pools.status(), capacity, pools, addresses, excluded });
  }

  #allocateNext({ query, headers }: ApiRequest): ApiAnswer {
    const { ipam, expiration } = this.#options;
    const family = textIn(query, 'family').toLowerCase();
    if (family !== '' && family !== 'ipv4' && family !== 'ipv6')
      return json(502, `unknown address "${family.slice(0, 100)}" family requested`);
    const outcome = ipam.allocate({
      owner: textIn(query, 'owner'),
      ...poolIn(query),
      ...(family !== '' && { families: [family] }),
      ...(headers['expiration'] === 'true' && { timeout: expiration }),
    });
    return outcome.kind === 'ok'
      ? json(201, this.#response(outcome.value))
      : json(502, outcome.error.message);
  }

  /** The IPAMResponse of Cilium. */
  #response(allocated: readonly Allocated[]): unknown {
    const address = allocated.map(({ family, ip, pool }) => ({
      [family]: ip,
      [`${family}-pool-name`]: pool,
    }));
    const perFamily = allocated.map((each) => ({
      [each.family]: {
        ip: each.ip,
        ...detailsOnTheWire(this.#options.ipam.details(each)),
        ...(each.uuid !== undefined && { 'expiration-uuid': each.uuid }),
      },
    }));
    return {
      address: Object.assign({}, ...address) as unknown,
      'host-addressing': { ipv4: this.#hostAddressing('ipv4'), ipv6: this.#hostAddressing('ipv6') },
      ...(Object.assign({}, ...perFamily) as object),
    };
  }

  #hostAddressing(family: Family): unknown {
    const allocator = this.#options.ipam.pools.allocator(family);
    const router = allocator?.router;
    if (allocator === undefined) return { enabled: false };
    if (router === undefined) return { enabled: true, 'address-type': 'InternalIP' };
    return {
      enabled: true,
      ip: addressText({ family, value: router }),
      'alloc-range': allocator.cidrs[0],
      'address-type': 'InternalIP',
    };
  }

  #allocate({ query }: ApiRequest, text: string): ApiAnswer {
    const ip = canonicalAddress(text);
    if (ip === undefined) return json(500, `Invalid IP address: ${text.slice(0, 100)}`);
    const outcome = this.#options.ipam.allocateIP(ip, textIn(query, 'owner'), this.#poolOf(query));
    return outcome.kind === 'ok' ? { status: 200 } : json(500, outcome.error.message);
  }

  #release({ query }: ApiRequest, text: string): ApiAnswer {
    const outcome = this.#options.ipam.releaseIPString(text, poolIn(query).pool);
    if (outcome.kind === 'ok') return { status: 200 };
    return json(outcome.error.kind === 'notAllocated' ? 400 : 500, outcome.error.message);
  }

  #startTimer({ query }: ApiRequest, text: string): ApiAnswer {
    const ip = canonicalAddress(text);
    if (ip === undefined) return json(400, `Invalid IP address: ${text.slice(0, 100)}`);
    const timeout = timeoutOf(query, this.#options.expiration);
    if (timeout === undefined)
      return json(400, 'timeout: accepted is a duration from 1s to 24h, such as 10m');
    const outcome = this.#options.ipam.startExpirationTimer({ pool: this.#poolOf(query), ip }, timeout);
    return outcome.kind === 'ok' ? json(201, { uuid: outcome.value }) : timerFailure(outcome.error);
  }

  #stopTimer({ query }: ApiRequest, text: string): ApiAnswer {
    const ip = canonicalAddress(text);
    if (ip === undefined) return json(400, `Invalid IP address: ${text.slice(0, 100)}`);
    const place = { pool: this.#poolOf(query), ip };
    const outcome = this.#options.ipam.stopExpirationTimer(place, textIn(query, 'uuid'));
    return outcome.kind === 'ok' ? { status: 200 } : timerFailure(outcome.error);
  }

  #poolOf(query: URLSearchParams): string {
    return poolIn(query).pool ?? this.#options.ipam.pools.defaultPool;
  }

  async #metrics(): Promise<ApiAnswer> {
    const { contentType } = this.#options.metrics;
    return { status: 200, contentType, body: await this.#scrape.read() };
  }
}

/** Texts and objects alike. */
export function json(status: number, value: unknown): ApiAnswer {
  return { status, body: `${JSON.stringify(value)}\n` };
}

function detailsOnTheWire(details: AddressDetails): Readonly<Record<string, unknown>> {
  const { mac, gateway, cidrs, interfaceNumber, skipsMasquerade } = details;
  return {
    ...(gateway !== undefined && { gateway }),
    ...(cidrs !== undefined && { cidrs }),
    ...(mac !== undefined && { 'master-mac': mac }),
    ...(interfaceNumber !== undefined && { 'interface-number': interfaceNumber }),
    ...(skipsMasquerade !== undefined && { 'skip-masquerade': skipsMasquerade }),
  };
}

function isAboutAddresses(path: string): boolean {
  return path.startsWith('/v1/ipam') || path === '/v1/cni';
}

function textIn(query: URLSearchParams, name: string): string {
  return query.get(name) ?? '';
}

function poolIn(query: URLSearchParams): { readonly pool?: string } {
  const pool = textIn(query, 'pool');
  return pool === '' ? {} : { pool };
}

const timerStatus: Readonly<Partial<Record<IpamErrorKind, number>>> = {
  notAllocated: 404,
  timerMissing: 404,
  timerExists: 409,
  uuidMismatch: 409,
  inUse: 409,
};

function timerFailure({ kind, message }: IpamError): ApiAnswer {
  return json(timerStatus[kind] ?? 500, message);
}

const day = 86_400_000;

function timeoutOf(query: URLSearchParams, fallback: number): number | undefined {
  const text = textIn(query, 'timeout');
  const timeout = text === '' ? fallback : parseGoDuration(text);
  return timeout !== undefined && timeout >= 1000 && timeout <= day ? timeout : undefined;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
