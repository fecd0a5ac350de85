// Azure Resource Manager without sockets: every request, as HTTP has it, through the front door of the cloud. The
// server and in-process clients share it.
import type { Random } from '../../runtime/random.ts';
import { CloudRefusal } from '../cloud/cloud-refusal.ts';
import type { Exchange } from '../cloud/exchange.ts';
import type { Fault, Garbling } from '../cloud/faults.ts';
import { FrontDoor, type OperationFailure, type Protocol } from '../cloud/front-door.ts';
import { PageTokens } from '../cloud/page-tokens.ts';
import type { PacedClock } from '../cloud/paced-clock.ts';
import type { ArmAnswer, ArmCall } from './arm-call.ts';
import type { ArmCloud } from './arm-cloud.ts';
import { ArmLimits, tooManyRequests } from './arm-limits.ts';
import type { JsonObject } from '../workload/json.ts';
import { ArmRefusal } from './arm-refusal.ts';
import type { ArmTopology } from './arm-topology-schema.ts';
import { refuseUnknownGroup } from './finding.ts';
import { withoutIds, withUnknownStates } from './garbling.ts';
import { meanLatency } from './latencies.ts';
import { refuseUnauthorized } from './permissions.ts';
import { Tokens } from './principals.ts';
import { otherCase, respell } from './spelling.ts';

export type ArmExchange = Exchange<ArmAnswer, ArmRefusal>;

/** Azure for in-process callers; its behavior can change at run time. */
export class ArmGateway implements Protocol<ArmCall, ArmAnswer, ArmRefusal> {
  readonly cloud: ArmCloud;
  /** The cloud's clock, whose pace can change. */
  readonly clock: PacedClock;
  readonly door: FrontDoor<ArmCall, ArmAnswer, ArmRefusal>;
  readonly requestLimits: ArmLimits;
  readonly tokens: Tokens;
  /** The only allowed operations by name; undefined for all. */
  allowedActions: ReadonlySet<string> | undefined;
  /** Called on arrival of every request, whatever its outcome. */
  onCall: ((call: ArmCall) => void) | undefined;
  readonly #lags: Random;
  readonly #pages: Random;
  readonly #spellings: Random;
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
    this.door = new FrontDoor({ protocol: this, clock, random, latency: topology.latency });
    this.requestLimits = new ArmLimits(clock, topology.limits);
    const { principals, tenant } = topology;
    this.tokens = new Tokens({ secret: random.fork('tokens').hex(32), principals, tenant, now });
    this.#lags = random.fork('lags');
    this.#pages = random.fork('pages');
    this.#spellings = random.fork('spellings');
    this.#pageTokens = new PageTokens(random.fork('page-tokens').hex(32));
  }

  /** Every outcome of a call as a value. */
  exchange(call: ArmCall): Promise<ArmExchange> {
    this.onCall?.(call);
    return this.door.exchange(call);
  }

  authorise(call: ArmCall): void {
    const { subscription = '' } = call.parameters;
    if (!this.cloud.subscriptions.has(subscription.toLowerCase())) {
      throw new ArmRefusal(
        'SubscriptionNotFound',
        `The subscription '${subscription}' could not be found.`,
        404,
      );
    }
    refuseUnauthorized(call, this.allowedActions);
  }

  limits(call: ArmCall): void {
    this.requestLimits.take(call);
  }

  accept(call: ArmCall): ArmCall {
    refuseUnknownGroup(this.cloud, call);
    return call;
  }

  run(call: ArmCall, failure: OperationFailure | undefined): ArmAnswer {
    const { consistency } = this.cloud.network;
    const { min, max } = consistency.listingLagMs;
    return call.operation.run(call, {
      cloud: this.cloud,
      view: this.cloud.view(min + this.#lags.next() * (max - min)),
      pages: this.#pageTokens,
      random: this.#pages,
      shortPages: consistency.shortPages,
      failure,
    });
  }

  refusalOfFault(fault: Extract<Fault, { kind: 'throttle' | 'error' }>, call: ArmCall): ArmRefusal {
    return fault.kind === 'throttle'
      ? tooManyRequests(call.operation.limits ?? call.operation.provider, 1)
      : new ArmRefusal(fault.code, fault.message, fault.status);
  }

  refusalOf(error: unknown): ArmRefusal | undefined {
    if (error instanceof CloudRefusal)
      throw new Error('a refusal of the network has no words', { cause: error });
    return error instanceof ArmRefusal ? error : undefined;
  }

  isThrottled({ status }: ArmRefusal): boolean {
    return status === 429;
  }

  garble(form: Garbling, output: ArmAnswer): ArmExchange {
    switch (form) {
      case 'idsMissing':
        return { kind: 'answered', output: withoutIds(output) };
      case 'unknownEnum':
        return { kind: 'answered', output: withUnknownStates(output) };
      default:
        return { kind: 'garbled', form, output };
    }
  }

  /** The answer with ids in the case that this call happens to use. */
  respelled(body: JsonObject): JsonObject {
    const share = this.cloud.respelled;
    return share === 0 ? body : respell(body, (id) => (this.#spellings.chance(share) ? otherCase(id) : id));
  }

  meanLatency(name: string): number {
    return meanLatency(name);
  }

  lengthLatency({ body }: ArmAnswer): number {
    const value = body?.['value'];
    return Array.isArray(value) ? value.length : 0;
  }
}
