// A model of the parts of Compute Engine that deal with alias IP ranges, and of the metadata service. It is strict: a token must
// be one that it gave and is still valid, a change must carry the fingerprint of what is there, and takes time as an operation.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { parseIpv4 } from '../cloud/ipv4.ts';
import type { HttpAnswer, HttpOutcome, HttpRequest } from '../http-front.ts';
import { type AliasRange, GceInstance } from './gce-instance.ts';

export interface GceModelOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly project: string;
  readonly zone: string;
  /** How long an operation takes, in ms. */
  readonly operationTime: number;
  /** How long a token is valid, in ms. */
  readonly tokenLifetime?: number;
}

/** Faults that the model makes on purpose. */
export interface GceFaults {
  /** So many next requests to Compute Engine are answered with 500. */
  errors: number;
  /** Whether changes are refused with 403, for lack of a permission. */
  isDenying: boolean;
  /** Whether it shows fingerprints that it does not accept. */
  isLying: boolean;
  /** Whether operations never end. */
  isEndless: boolean;
  /** Whether operations end with this error, and change nothing. */
  failure: string | undefined;
}

interface Operation {
  readonly name: string;
  status: 'DONE' | 'RUNNING';
  error: string | undefined;
}

const defaultLifetime = 3_600_000;

/** An error of Compute Engine, as its answers show it. */
class GceRefusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export class GceModel {
  readonly faults: GceFaults = {
    errors: 0,
    isDenying: false,
    isLying: false,
    isEndless: false,
    failure: undefined,
  };
  /** Requests to Compute Engine and their statuses, such as "GET instances/a 200". */
  readonly calls: string[] = [];
  readonly #options: GceModelOptions;
  readonly #instances = new Map<string, GceInstance>();
  readonly #operations = new Map<string, Operation>();
  /** Tokens and when each ends, in monotonic ms. */
  readonly #tokens = new Map<string, number>();

  constructor(options: GceModelOptions) {
    this.#options = options;
  }

  add(name: string, ranges: readonly AliasRange[] = [], ipv6?: string): GceInstance {
    const instance = new GceInstance(name, ranges, { random: this.#options.random, ipv6 });
    this.#instances.set(name, instance);
    return instance;
  }

  remove(name: string): void {
    this.#instances.delete(name);
  }

  /** The token that the metadata service gives next. */
  token(): { readonly text: string; readonly seconds: number } {
    const { clock, random, tokenLifetime = defaultLifetime } = this.#options;
    const text = `ya29.${random.hex(24)}`;
    this.#tokens.set(text, clock.monotonic() + tokenLifetime);
    return { text, seconds: Math.floor(tokenLifetime / 1000) };
  }

  answer(request: HttpRequest): HttpOutcome {
    const url = new URL(request.url, 'http://model');
    if (url.pathname.startsWith('/computeMetadata/')) return this.#answerMetadata(url, request);
    const answer = this.#answerCompute(url, request);
    const [, path = url.pathname] = /\/zones\/[^/]+\/(.*)$/.exec(url.pathname) ?? [];
    this.calls.push(`${request.method} ${path} ${answer.status}`);
    return answer;
  }

  #answerMetadata({ pathname }: URL, { headers }: HttpRequest): HttpAnswer {
    if (headers['metadata-flavor'] !== 'Google') return plain(403, 'Missing Metadata-Flavor:Google header.');
    if (pathname !== '/computeMetadata/v1/instance/service-accounts/default/token')
      return plain(404, 'Not found');
    const { text, seconds } = this.token();
    return json(200, { access_token: text, expires_in: seconds, token_type: 'Bearer' });
  }

  #answerCompute(url: URL, request: HttpRequest): HttpAnswer {
    try {
      this.#authenticate(request);
      if (this.faults.errors > 0) {
        this.faults.errors--;
        throw new GceRefusal(500, 'backendError', 'Internal error. Please try again.');
      }
      return json(200, this.#route(url, request));
    } catch (error) {
      if (!(error instanceof GceRefusal)) throw error;
      const { status, reason, message } = error;
      const errors = [{ message, domain: 'global', reason }];
      return json(status, { error: { code: status, message, errors } });
    }
  }

  #authenticate({ headers }: HttpRequest): void {
    const [, token = ''] = /^Bearer (\S+)$/.exec(headers['authorization'] ?? '') ?? [];
    const until = this.#tokens.get(token);
    if (until === undefined || this.#options.clock.monotonic() >= until)
      throw new GceRefusal(401, 'authError', 'Request had invalid authentication credentials.');
  }

  #route({ pathname, searchParams }: URL, { method, body }: HttpRequest): object {
    const { project, zone } = this.#options;
    const base = `/compute/v1/projects/${project}/zones/${zone}/`;
    if (!pathname.startsWith(base)) throw notFound(pathname);
    const [kind, name = '', action = ''] = pathname.slice(base.length).split('/');
    const call = `${method} ${kind} ${action}`.trim();
    if (call === 'GET operations') return this.#operation(name);
    const instance = this.#instances.get(name);
    if (instance === undefined) throw notFound(pathname);
    if (call === 'GET instances') return instance.shown(this.faults.isLying);
    if (call === 'PATCH instances updateNetworkInterface')
      return this.#update(instance, searchParams.get('networkInterface'), body);
    throw notFound(pathname);
  }

  #operation(name: string): object {
    const operation = this.#operations.get(name);
    if (operation === undefined) throw notFound(`operations/${name}`);
    const { status, error } = operation;
    const errors = [{ code: error, message: `The operation failed with ${error}.` }];
    return { kind: 'compute#operation', name, status, ...(error !== undefined && { error: { errors } }) };
  }

  #update(instance: GceInstance, nic: string | null, body: string): object {
    if (this.faults.isDenying) {
      const permission = 'compute.instances.updateNetworkInterface';
      throw new GceRefusal(403, 'forbidden', `Required '${permission}' permission for '${instance.name}'`);
    }
    if (nic !== 'nic0') throw invalidField('networkInterface', nic ?? '');
    const ranges = this.#rangesIn(instance, body);
    if (instance.isChanging)
      throw new GceRefusal(400, 'resourceNotReady', `The resource '${instance.name}' is not ready`);
    const name = `operation-${this.#options.random.hex(12)}`;
    const operation: Operation = { name, status: 'RUNNING', error: undefined };
    this.#operations.set(name, operation);
    instance.isChanging = true;
    if (!this.faults.isEndless)
      this.#options.clock.schedule(this.#options.operationTime, () => this.#end(instance, operation, ranges));
    return { kind: 'compute#operation', name, status: 'PENDING' };
  }

  #rangesIn(instance: GceInstance, body: string): readonly AliasRange[] {
    const { fingerprint, aliasIpRanges } = contentOf(body);
    if (typeof fingerprint !== 'string') throw new GceRefusal(400, 'required', 'fingerprint is required');
    if (fingerprint !== instance.fingerprint)
      throw new GceRefusal(412, 'conditionNotMet', 'Invalid fingerprint.');
    if (!Array.isArray(aliasIpRanges)) throw invalidField('aliasIpRanges', '');
    const ranges = aliasIpRanges as AliasRange[];
    for (const { ipCidrRange } of ranges) {
      const [address = '', length = ''] = ipCidrRange.split('/');
      if (parseIpv4(address) === undefined || !/^\d{1,2}$/.test(length))
        throw invalidField('aliasIpRanges', ipCidrRange);
      const others = [...this.#instances.values()].filter((other) => other !== instance);
      if (others.some((other) => other.ranges.some((range) => range.ipCidrRange === ipCidrRange)))
        throw new GceRefusal(400, 'invalid', `IP range ${ipCidrRange} is already being used`);
    }
    return ranges;
  }

  #end(instance: GceInstance, operation: Operation, ranges: readonly AliasRange[]): void {
    instance.isChanging = false;
    operation.status = 'DONE';
    operation.error = this.faults.failure;
    if (operation.error === undefined) instance.change(ranges);
  }
}

function contentOf(body: string): { readonly fingerprint?: unknown; readonly aliasIpRanges?: unknown } {
  try {
    return JSON.parse(body) as object;
  } catch {
    throw new GceRefusal(400, 'parseError', 'Parse Error');
  }
}

function json(status: number, body: object): HttpAnswer {
  return {
    kind: 'answer',
    status,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: JSON.stringify(body),
  };
}

function plain(status: number, body: string): HttpAnswer {
  return { kind: 'answer', status, headers: { 'content-type': 'text/plain' }, body };
}

function notFound(what: string): GceRefusal {
  return new GceRefusal(404, 'notFound', `The resource '${what}' was not found`);
}

function invalidField(field: string, value: string): GceRefusal {
  return new GceRefusal(400, 'invalid', `Invalid value for field '${field}': '${value}'.`);
}
