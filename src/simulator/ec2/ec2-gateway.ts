// The EC2 gateway without sockets: authorization, throttling, faults, delays, then the action. The HTTP
// server and in-process clients share it.
import { sleep } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import { CloudRefusal } from '../cloud/cloud-refusal.ts';
import { type Fault, Faults } from '../cloud/faults.ts';
import { drawLatency, type LatencySettings } from '../cloud/latency.ts';
import type { PacedClock } from '../cloud/paced-clock.ts';
import { accept } from './accept.ts';
import type { Action, ActionContext } from './action.ts';
import { allActions } from './actions/all-actions.ts';
import { CallCounters } from '../cloud/call-counters.ts';
import { ClientTokens } from './client-tokens.ts';
import { Ec2Refusal } from './ec2-refusal.ts';
import { AnswerGarbled, AnswerLost, type Exchange } from './exchange.ts';
import { isAllowed, type IamPolicy, type Permission } from './iam-policy.ts';
import { withoutIds, withUnknownEnums } from './garbling.ts';
import type { Described } from './interface-answers.ts';
import { lengthLatency, meanLatency } from './latencies.ts';
import { PageTokens } from '../cloud/page-tokens.ts';
import { permissionsFor } from './permissions.ts';
import { refusalOf } from './refusal-of-problem.ts';
import { type BucketKey, type LimitSettings, RequestLimits } from './request-limits.ts';
import type { Credential } from './sigv4.ts';

/** The caller, after its signature was verified. */
export interface Caller {
  readonly arn: string;
}

export interface Ec2GatewayOptions {
  readonly network: CloudNetwork;
  readonly clock: PacedClock;
  readonly random: Random;
  readonly limits: LimitSettings & { readonly refuseUnpaginated: boolean };
  readonly latency: LatencySettings;
  readonly credentials: readonly Credential[];
}

type Input = Readonly<Record<string, unknown>>;
type Output = Readonly<Record<string, unknown>>;

interface Request {
  readonly name: string;
  readonly action: Action;
  readonly parameters: Input;
  readonly caller: Caller;
}

/** An admitted request with the faults that it meets. */
interface Admitted {
  readonly request: Request;
  readonly faults: readonly Fault[];
}

/** The request whose effect happens at this moment. */
export interface ActingRequest {
  readonly action: string;
  readonly parameters: Input;
  readonly caller: Caller;
}

const never = new AbortController().signal;
/** Share of the call's normal latency after which a refused call is answered. */
const refusalShare = 0.1;

/** EC2 for in-process callers; its behavior can change at run time. */
export class Ec2Gateway {
  readonly network: CloudNetwork;
  /** The cloud's clock, whose pace can change. */
  readonly clock: PacedClock;
  /** Credentials that the HTTP server accepts. */
  readonly credentials: readonly Credential[];
  readonly faults: Faults;
  readonly limits: RequestLimits;
  readonly counters = new CallCounters();
  latency: LatencySettings;
  refuseUnpaginated: boolean;
  /** The only allowed actions; undefined for all. */
  allowedActions: ReadonlySet<string> | undefined;
  /** Policies by caller ARN; a caller without one may do everything. */
  readonly policies = new Map<string, IamPolicy>();
  /** Called with each permission that a caller with a policy needed, and the result. */
  onChecked: ((permission: Permission, isAllowed: boolean, caller: Caller) => void) | undefined;
  /** Called on arrival of every request, whatever its outcome. */
  onCall: ((caller: Caller, action: string) => void) | undefined;
  readonly #denials: Random;
  readonly #latencies: Random;
  readonly #lags: Random;
  readonly #pages: Random;
  readonly #clientTokens = new ClientTokens();
  readonly #pageTokens: PageTokens;
  readonly #described: Described = new WeakMap();
  #acting: ActingRequest | undefined;

  constructor({ network, clock, random, limits, latency, credentials }: Ec2GatewayOptions) {
    this.network = network;
    this.clock = clock;
    this.credentials = credentials;
    this.faults = new Faults(random.fork('faults'));
    this.limits = new RequestLimits(clock, limits);
    this.refuseUnpaginated = limits.refuseUnpaginated;
    this.latency = latency;
    this.#denials = random.fork('denials');
    this.#latencies = random.fork('latencies');
    this.#lags = random.fork('lags');
    this.#pages = random.fork('pages');
    this.#pageTokens = new PageTokens(random.fork('page-tokens').hex(32));
  }

  /** The caller's ARN, as policies and answers show it. */
  arnOf({ user }: Pick<Credential, 'user'>): string {
    return `arn:aws:iam::${this.network.account}:user/${user}`;
  }

  /** The request behind a change, for change listeners; undefined otherwise. */
  get acting(): ActingRequest | undefined {
    return this.#acting;
  }

  /**
   * Calls an action with the SDKs' member names. Throws `Ec2Refusal`; `AnswerLost` if a fault lost the
   * answer, with or without an effect; `AnswerGarbled` if the answer is unreadable.
   */
  async call(action: string, input: Input, caller: Caller): Promise<Output> {
    const exchange = await this.exchange(action, input, caller);
    switch (exchange.kind) {
      case 'answered':
        return exchange.output;
      case 'refused':
        throw exchange.refusal;
      case 'lost':
        throw new AnswerLost(exchange.connection);
      case 'garbled':
        throw new AnswerGarbled(exchange.form);
    }
  }

  /** The same, with every outcome as a value. */
  async exchange(action: string, input: Input, caller: Caller): Promise<Exchange> {
    this.counters.add(action, 'calls');
    this.onCall?.(caller, action);
    try {
      const exchange = await this.#exchange(action, input, caller);
      if (exchange.kind === 'lost' || exchange.kind === 'garbled') this.counters.add(action, 'lost');
      return exchange;
    } catch (error) {
      const refusal = error instanceof CloudRefusal ? refusalOf(error.problem, action) : error;
      if (!(refusal instanceof Ec2Refusal)) throw error;
      this.counters.add(action, refusal.code === 'RequestLimitExceeded' ? 'throttled' : 'refused');
      return { kind: 'refused', refusal };
    }
  }

  async #exchange(name: string, input: Input, caller: Caller): Promise<Exchange> {
    const delay = drawLatency(meanLatency(name), this.latency, this.#latencies);
    let admitted: Admitted;
    try {
      admitted = this.#admit(name, input, caller);
    } catch (error) {
      await this.#wait(delay * refusalShare);
      throw error;
    }
    const before = delay * this.#latencies.next();
    await this.#wait(before + slowness(admitted.faults));
    return this.#perform(admitted, delay - before);
  }

  #admit(name: string, input: Input, caller: Caller): Admitted {
    const action = allActions.get(name);
    if (action === undefined) throw invalidAction(name);
    this.#authorize(name, caller);
    if (!this.limits.allow(bucketOf(name, input))) throw throttled();
    const accepted: Input = accept(action.input, input);
    this.#refuseByPolicy(name, accepted, caller);
    const parameters = withoutDryRun(accepted);
    const faults = this.faults.meet(name, parameters);
    for (const fault of faults) refuseByFault(fault);
    return { request: { name, action, parameters, caller }, faults };
  }

  /** Applies the effect, then answers `rest` ms later, unless a fault interferes. */
  async #perform({ request, faults }: Admitted, rest: number): Promise<Exchange> {
    const { action } = request;
    const fault = faults.find(({ kind }) => kind === 'lost' || kind === 'garbled');
    if (fault?.kind === 'lost' && fault.effect !== 'before') return this.#lose(fault, request);
    const output = this.#run(request);
    await this.#wait(rest + lengthLatency(lengthOf(output)) * this.latency.scale);
    if (fault?.kind === 'lost') return { kind: 'lost', connection: fault.connection };
    if (fault?.kind === 'garbled') return garble(fault.form, output, action);
    return { kind: 'answered', output, shape: action.output };
  }

  #authorize(action: string, caller: Caller): void {
    if (this.allowedActions === undefined || this.allowedActions.has(action)) return;
    throw new Ec2Refusal(
      'UnauthorizedOperation',
      `You are not authorized to perform this operation. User: ${caller.arn} is not authorized to perform: ec2:${action} because no identity-based policy allows the ec2:${action} action`,
      403,
    );
  }

  #refuseByPolicy(name: string, input: Input, caller: Caller): void {
    const policy = this.policies.get(caller.arn);
    if (policy === undefined) return;
    const denied = permissionsFor(name, input, this.network).find((permission) => {
      const passes = isAllowed(policy, permission);
      this.onChecked?.(permission, passes, caller);
      return !passes;
    });
    if (denied === undefined) return;
    const { action, resource } = denied;
    // A part that only its owner can decode differs each time.
    const [on, encoded] =
      resource === '*'
        ? ['', '']
        : [` on resource: ${resource}`, `. Encoded authorization failure message: ${this.#denials.hex(60)}`];
    throw new Ec2Refusal(
      'UnauthorizedOperation',
      `You are not authorized to perform this operation. User: ${caller.arn} is not authorized to perform: ${action}${on} because no identity-based policy allows the ${action} action${encoded}`,
      403,
    );
  }

  #run({ name, action, parameters, caller }: Request): Output {
    const { consistency } = this.network;
    const { min, max } = consistency.listingLagMs;
    const context: ActionContext = {
      network: this.network,
      view: this.network.view(min + this.#lags.next() * (max - min)),
      clientTokens: this.#clientTokens,
      pageTokens: this.#pageTokens,
      described: this.#described,
      random: this.#pages,
      refuseUnpaginated: this.refuseUnpaginated,
    };
    this.#acting = { action: name, parameters, caller };
    try {
      return action.run(parameters, context);
    } finally {
      this.#acting = undefined;
    }
  }

  /** Loses the answer before any effect; a late request takes effect after the caller gave up. */
  #lose(fault: Extract<Fault, { kind: 'lost' }>, request: Request): Exchange {
    if (fault.effect === 'late') {
      this.clock.schedule(fault.delayMs, () => {
        try {
          this.#run(request);
        } catch (error) {
          // No client waits for this refusal.
          if (!(error instanceof CloudRefusal || error instanceof Ec2Refusal)) throw error;
          this.counters.add(request.name, 'refused');
        }
      });
    }
    return { kind: 'lost', connection: fault.effect === 'late' ? 'hang' : fault.connection };
  }

  async #wait(ms: number): Promise<void> {
    if (ms > 0) await sleep(this.clock, ms, never);
  }
}

/** The parameters of the action; refuses dry runs. */
function withoutDryRun({ DryRun, ...parameters }: Input): Input {
  if (DryRun === true) {
    throw new Ec2Refusal('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.', 412);
  }
  return parameters;
}

/** Whether a request lists everything: without ids, filters or pages. */
function isWhole({ MaxResults, NextToken, ...rest }: Input): boolean {
  const narrow = Object.values(rest).some((value) => Array.isArray(value) && value.length > 0);
  return MaxResults === undefined && NextToken === undefined && !narrow;
}

function bucketOf(action: string, input: Input): BucketKey {
  const { MaxCount } = input;
  return { action, whole: isWhole(input), ...(typeof MaxCount === 'number' && { made: MaxCount }) };
}

function refuseByFault(fault: Fault): void {
  if (fault.kind === 'throttle') throw throttled();
  if (fault.kind === 'error') throw new Ec2Refusal(fault.code, fault.message, fault.status);
}

function slowness(faults: readonly Fault[]): number {
  return faults.reduce((ms, fault) => ms + (fault.kind === 'slow' ? fault.ms : 0), 0);
}

function garble(form: Extract<Fault, { kind: 'garbled' }>['form'], output: Output, action: Action): Exchange {
  const shape = action.output;
  switch (form) {
    case 'idsMissing':
      return { kind: 'answered', output: withoutIds(output), shape };
    case 'unknownEnum':
      return { kind: 'answered', output: withUnknownEnums(output), shape };
    default:
      return { kind: 'garbled', form, output, shape };
  }
}

/** Number of items in an answer. */
function lengthOf(output: Output): number {
  return Math.max(0, ...Object.values(output).map((value) => (Array.isArray(value) ? value.length : 0)));
}

function throttled(): Ec2Refusal {
  return new Ec2Refusal('RequestLimitExceeded', 'Request limit exceeded.', 503);
}

function invalidAction(name: string): Ec2Refusal {
  return new Ec2Refusal('InvalidAction', `The action ${name} is not valid for this web service.`);
}
