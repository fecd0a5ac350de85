// Azure Resource Manager without sockets: every request, as HTTP has it, through the front door of the cloud. The
// server and in-process clients share it.
import type { Random } from '../../runtime/random.ts';
import type { CallCounters } from '../cloud/call-counters.ts';
import type { Fault, Faults } from '../cloud/faults.ts';
import { FrontDoor, type OperationFailure, type Protocol } from '../cloud/front-door.ts';
import type { LatencySettings } from '../cloud/latency.ts';
import { PageTokens } from '../cloud/page-tokens.ts';
import type { PacedClock } from '../cloud/paced-clock.ts';
import type { ArmAnswer, ArmCall, ArmExchange } from './arm-call.ts';
import type { ArmCloud } from './arm-cloud.ts';
import { ArmLimits, tooManyRequests } from './arm-limits.ts';
import { type JsonObject, listAt } from '../workload/json.ts';
import { ArmRefusal } from './arm-refusal.ts';
import type { ArmTopology } from './arm-topology-schema.ts';
import { refuseUnknownGroup, refuseUnknownSubscription } from './finding.ts';
import { garble } from './garbling.ts';
import { meanLatency } from './latencies.ts';
import { linkedActions, refuseUnauthorized } from './permissions.ts';
import { Tokens } from './principals.ts';
import { allOperations } from './router.ts';
import { otherCase, respell } from './spelling.ts';

/** Azure for in-process callers; its behavior can change at run time. */
export class ArmGateway {
  readonly cloud: ArmCloud;
  /** The cloud's clock, whose pace can change. */
  readonly clock: PacedClock;
  readonly limits: ArmLimits;
  readonly tokens: Tokens;
  /** The only allowed operations by name; undefined for all. */
  allowedActions: ReadonlySet<string> | undefined;
  /** Called on arrival of every request, whatever its outcome. */
  onCall: ((call: ArmCall) => void) | undefined;
  readonly #door: FrontDoor<ArmCall, ArmAnswer, ArmRefusal>;
  readonly #lags: Random;
  readonly #pages: Random;
  readonly #spellings: Random;
  readonly #requestIds: Random;
  readonly #pageTokens: PageTokens;

  constructor(options: {
    readonly cloud: ArmCloud;
    readonly clock: PacedClock;
    readonly random: Random;
    readonly topology: ArmTopology;
    /** The clients' wall clock in ms, for tokens. */
    readonly now: () => number;
  }) {
    const { cloud, clock, random, topology, now } = options;
    this.cloud = cloud;
    this.clock = clock;
    this.limits = new ArmLimits(clock, topology.limits);
    const { principals, tenant, latency } = topology;
    this.tokens = new Tokens({ secret: random.fork('tokens').hex(32), principals, tenant, now });
    this.#lags = random.fork('lags');
    this.#pages = random.fork('pages');
    this.#spellings = random.fork('spellings');
    this.#requestIds = random.fork('request-ids');
    this.#pageTokens = new PageTokens(random.fork('page-tokens').hex(32));
    this.#door = new FrontDoor({ protocol: this.#protocol(), clock, random, latency });
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
  get acting(): ArmCall | undefined {
    return this.#door.acting;
  }

  newRequestId(): string {
    return this.#requestIds.uuid();
  }

  /** Every outcome of a call as a value. */
  exchange(call: ArmCall): Promise<ArmExchange> {
    this.onCall?.(call);
    return this.#door.exchange(call);
  }

  /** An answer with ids in the case that this call happens to use. */
  respelled(body: JsonObject): JsonObject {
    const share = this.cloud.respelled;
    return share === 0 ? body : respell(body, (id) => (this.#spellings.chance(share) ? otherCase(id) : id));
  }

  #protocol(): Protocol<ArmCall, ArmAnswer, ArmRefusal> {
    return {
      authorise: (call) => {
        refuseUnknownSubscription(this.cloud, call);
        refuseUnauthorized(call, this.allowedActions);
      },
      limits: (call) => this.limits.take(call),
      accept: (call) => {
        refuseUnknownGroup(this.cloud, call);
        return call;
      },
      run: (call, failure) => this.#run(call, failure),
      refusalOfFault,
      refusalOf: (error) => (error instanceof ArmRefusal ? error : undefined),
      isThrottled: ({ status }) => status === 429,
      garble,
      meanLatency,
      lengthLatency: lengthOf,
    };
  }

  #run(call: ArmCall, failure: OperationFailure | undefined): ArmAnswer {
    const { consistency } = this.cloud.network;
    const { min, max } = consistency.listingLagMs;
    return call.operation.run(call, {
      cloud: this.cloud,
      view: this.cloud.view(min + this.#lags.next() * (max - min)),
      pages: this.#pageTokens,
      random: this.#pages,
      shortPages: consistency.shortPages,
      failure,
      openActions: this.allowedActions && actionsOf(this.allowedActions),
    });
  }
}

function refusalOfFault(fault: Extract<Fault, { kind: 'throttle' | 'error' }>, call: ArmCall): ArmRefusal {
  if (fault.kind === 'throttle') return tooManyRequests(call.operation.limits ?? call.operation.provider, 1);
  const { code, message, status, retryAfter } = fault;
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return new ArmRefusal(code, message, status, { headers });
}

/** The actions that a role has to allow for these operations, and for whatever their bodies link to. */
function actionsOf(names: ReadonlySet<string>): readonly string[] {
  const own = allOperations.flatMap(({ name, action }) => (names.has(name) ? (action ?? []) : []));
  return [...own, ...Object.values(linkedActions).flatMap((action) => action ?? [])];
}

/** One ms for each result. */
function lengthOf({ body }: ArmAnswer): number {
  return listAt(body, 'value').length;
}
