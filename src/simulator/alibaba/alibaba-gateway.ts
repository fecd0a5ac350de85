// The RPC APIs of Alibaba Cloud without sockets: what they add to the front door of every cloud. The HTTP server and
// in-process clients share it.
import type { Random } from '../../runtime/random.ts';
import type { CallCounters } from '../cloud/call-counters.ts';
import { ClientTokens } from '../cloud/client-tokens.ts';
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import { CloudRefusal } from '../cloud/cloud-refusal.ts';
import type { Fault, Faults } from '../cloud/faults.ts';
import { FrontDoor, type OperationFailure, type Protocol } from '../cloud/front-door.ts';
import type { LatencySettings } from '../cloud/latency.ts';
import { PageTokens } from '../cloud/page-tokens.ts';
import type { PacedClock } from '../cloud/paced-clock.ts';
import { type JsonObject, isObject } from '../workload/json.ts';
import { allActions } from './actions/all-actions.ts';
import type { AlibabaTopology } from './alibaba-topology-schema.ts';
import { garble } from './garbling.ts';
import { meanLatency } from './latencies.ts';
import { Nonces } from './nonces.ts';
import { accept } from './parameters.ts';
import { refusalOf } from './refusal-of-problem.ts';
import { type InterfaceTimes, versions } from './rpc-action.ts';
import type { RpcCall, RpcExchange, RpcRequest } from './rpc-call.ts';
import { RpcLimits } from './rpc-limits.ts';
import { notFound, RpcRefusal } from './rpc-refusal.ts';
import type { Credential } from './rpc-signature.ts';

/** Alibaba Cloud for in-process callers; its behavior can change at run time. */
export class AlibabaGateway {
  readonly network: CloudNetwork;
  /** The cloud's clock, whose pace can change. */
  readonly clock: PacedClock;
  /** Credentials that the HTTP server accepts. */
  readonly credentials: readonly Credential[];
  readonly limits: RpcLimits;
  readonly nonces = new Nonces();
  times: InterfaceTimes;
  /** The only allowed actions by name; undefined for all. */
  allowedActions: ReadonlySet<string> | undefined;
  /** Called on arrival of every request to a known action, whatever its outcome. */
  onCall: ((call: RpcCall) => void) | undefined;
  readonly #lags: Random;
  readonly #pages: Random;
  readonly #clientTokens = new ClientTokens<JsonObject>(mismatch);
  /** Requests with a client token that were accepted and have had no effect yet. */
  readonly #processing = new Set<string>();
  readonly #pageTokens: PageTokens;
  readonly #door: FrontDoor<RpcCall, JsonObject, RpcRefusal>;

  constructor(options: {
    readonly network: CloudNetwork;
    readonly clock: PacedClock;
    readonly random: Random;
    readonly topology: AlibabaTopology;
  }) {
    const { network, clock, random, topology } = options;
    this.network = network;
    this.clock = clock;
    this.credentials = topology.credentials;
    this.times = topology.times;
    this.limits = new RpcLimits(clock, topology.limits);
    this.#lags = random.fork('lags');
    this.#pages = random.fork('pages');
    this.#pageTokens = new PageTokens(random.fork('page-tokens').hex(32));
    this.#door = new FrontDoor({ protocol: this.#protocol(), clock, random, latency: topology.latency });
  }

  get faults(): Faults {
    return this.#door.faults;
  }

  get counters(): CallCounters {
    return this.#door.counters;
  }

  get latency(): LatencySettings {
    return this.#door.latency;
  }

  set latency(latency: LatencySettings) {
    this.#door.latency = latency;
  }

  /** The call behind a change, for change listeners; undefined otherwise. */
  get acting(): RpcCall | undefined {
    return this.#door.acting;
  }

  /** Every outcome of a request as a value. */
  exchange({ action: name, version, parameters, caller }: RpcRequest): Promise<RpcExchange> {
    const action = allActions.get(name);
    const isKnown = action !== undefined && versions[action.product] === version;
    if (!isKnown) return Promise.resolve({ kind: 'refused', refusal: unknownAction(version) });
    const given = Object.fromEntries(parameters);
    const call: RpcCall = { name, parameters: given, action, given: parameters, caller };
    this.onCall?.(call);
    return this.#door.exchange(call);
  }

  #protocol(): Protocol<RpcCall, JsonObject, RpcRefusal> {
    return {
      authorise: (call) => this.#authorise(call),
      limits: ({ name }) => {
        if (!this.limits.take(name)) throw throttled();
      },
      accept: (call) => {
        const parameters = accept(call.action.parameters, call.given);
        this.#refuseOtherRegion(parameters['RegionId']);
        const accepted = { ...call, parameters };
        this.#beginProcessing(accepted);
        return accepted;
      },
      run: (call, failure) => {
        this.#processing.delete(tokenKeyOf(call));
        return this.#run(call, failure);
      },
      abandon: (call) => this.#processing.delete(tokenKeyOf(call)),
      refusalOfFault,
      refusalOf: (error) => {
        const refusal = error instanceof CloudRefusal ? refusalOf(error.problem) : error;
        return refusal instanceof RpcRefusal ? refusal : undefined;
      },
      isThrottled: ({ code }) => code.startsWith('Throttling'),
      garble,
      meanLatency,
      lengthLatency: lengthOf,
    };
  }

  #authorise({ name, action, caller }: RpcCall): void {
    const permission = `${action.product}:${name}`;
    const isAllowed =
      this.allowedActions?.has(name) !== false && caller.actions?.includes(permission) !== false;
    if (isAllowed) return;
    throw new RpcRefusal(
      'Forbidden.RAM',
      `User not authorized to operate on the specified resource, or this API doesn't support RAM. (${permission})`,
      403,
    );
  }

  /** Refuses a request that is repeated before the first one has had its effect. */
  #beginProcessing(call: RpcCall): void {
    if (call.parameters['ClientToken'] === undefined) return;
    const key = tokenKeyOf(call);
    if (this.#processing.has(key)) {
      throw new RpcRefusal(
        'IdempotentProcessing',
        'The previous idempotent request(s) is still processing, please try again later.',
        403,
      );
    }
    this.#processing.add(key);
  }

  #refuseOtherRegion(region: unknown): void {
    if (region === undefined || region === this.network.region) return;
    throw notFound('InvalidRegionId.NotFound', 'The specified RegionId does not exist.');
  }

  #run({ name, action, parameters }: RpcCall, failure: OperationFailure | undefined): JsonObject {
    const { network } = this;
    const { listingLagMs, shortPages } = network.consistency;
    const context = {
      network,
      times: this.times,
      view: network.view(listingLagMs.min + this.#lags.next() * (listingLagMs.max - listingLagMs.min)),
      pageTokens: this.#pageTokens,
      random: this.#pages,
      shortPages,
      failure,
    };
    const { ClientToken: token, ...asked } = parameters;
    const request = {
      action: name,
      token: typeof token === 'string' ? token : undefined,
      parameters: asked,
    };
    return this.#clientTokens.once(request, () => action.run(parameters, context)).made;
  }
}

function tokenKeyOf({ name, parameters }: RpcCall): string {
  return `${name} ${String(parameters['ClientToken'])}`;
}

function refusalOfFault(fault: Extract<Fault, { kind: 'throttle' | 'error' }>): RpcRefusal {
  return fault.kind === 'throttle' ? throttled() : new RpcRefusal(fault.code, fault.message, fault.status);
}

function unknownAction(version: string): RpcRefusal {
  const known: readonly string[] = Object.values(versions);
  return known.includes(version)
    ? notFound('InvalidAction.NotFound', 'Specified api is not found, please check your url and method.')
    : new RpcRefusal('InvalidVersion', 'Specified parameter Version is not valid.');
}

function mismatch(): RpcRefusal {
  return new RpcRefusal(
    'IdempotentParameterMismatch',
    'The request uses the same client token as a previous request, but its parameters are not identical.',
  );
}

function throttled(): RpcRefusal {
  return new RpcRefusal('Throttling.User', 'Request was denied due to user flow control.');
}

/** One ms for each result. */
function lengthOf(answer: JsonObject): number {
  const lists = Object.values(answer).flatMap((value) => (isObject(value) ? Object.values(value) : []));
  return Math.max(0, ...lists.map((list) => (Array.isArray(list) ? list.length : 0)));
}
