// The EC2 gateway without sockets: what EC2 adds to the front door of every cloud. The HTTP server and in-process
// clients share it.
import type { Random } from '../../runtime/random.ts';
import type { CallCounters } from '../cloud/call-counters.ts';
import { ClientTokens } from '../cloud/client-tokens.ts';
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import { CloudRefusal } from '../cloud/cloud-refusal.ts';
import { AnswerGarbled, AnswerLost } from '../cloud/exchange.ts';
import type { Fault, Faults } from '../cloud/faults.ts';
import { type Call, FrontDoor, type Protocol } from '../cloud/front-door.ts';
import type { LatencySettings } from '../cloud/latency.ts';
import { PageTokens } from '../cloud/page-tokens.ts';
import type { PacedClock } from '../cloud/paced-clock.ts';
import { accept } from './accept.ts';
import type { Action, ActionContext } from './action.ts';
import { allActions } from './actions/all-actions.ts';
import type { Ec2Answer, Ec2Exchange } from './ec2-answer.ts';
import { Ec2Refusal, mismatch } from './ec2-refusal.ts';
import { garble } from './garbling.ts';
import { isAllowed, type IamPolicy, type Permission } from './iam-policy.ts';
import type { Described } from './interface-answers.ts';
import { lengthLatency, meanLatency } from './latencies.ts';
import { permissionsFor } from './permissions.ts';
import { refusalOf } from './refusal-of-problem.ts';
import { answeredToOwners } from './sharing.ts';
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

interface Ec2Call extends Call {
  readonly parameters: Input;
  readonly caller: Caller;
}

/** The request whose effect happens at this moment. */
export interface ActingRequest {
  readonly action: string;
  readonly parameters: Input;
  readonly caller: Caller;
}

/** EC2 for in-process callers; its behavior can change at run time. */
export class Ec2Gateway {
  readonly network: CloudNetwork;
  /** The cloud's clock, whose pace can change. */
  readonly clock: PacedClock;
  /** Credentials that the HTTP server accepts. */
  readonly credentials: readonly Credential[];
  readonly limits: RequestLimits;
  refuseUnpaginated: boolean;
  /** The only allowed actions; undefined for all. */
  allowedActions: ReadonlySet<string> | undefined;
  /** Policies by caller ARN; a caller without one may do everything. */
  readonly policies = new Map<string, IamPolicy>();
  /** Called with each permission that a caller with a policy needed, and the result. */
  onChecked: ((permission: Permission, isAllowed: boolean, caller: Caller) => void) | undefined;
  /** Called on arrival of every request, whatever its outcome. */
  onCall: ((caller: Caller, action: string) => void) | undefined;
  readonly #limitSettings: LimitSettings;
  readonly #limitsOfOthers = new Map<string, RequestLimits>();
  readonly #denials: Random;
  readonly #lags: Random;
  readonly #pages: Random;
  readonly #clientTokens = new ClientTokens<string>(mismatch);
  readonly #pageTokens: PageTokens;
  readonly #described: Described = new WeakMap();
  readonly #door: FrontDoor<Ec2Call, Ec2Answer, Ec2Refusal>;

  constructor({ network, clock, random, limits, latency, credentials }: Ec2GatewayOptions) {
    this.network = network;
    this.clock = clock;
    this.credentials = credentials;
    this.limits = new RequestLimits(clock, limits);
    this.#limitSettings = limits;
    this.refuseUnpaginated = limits.refuseUnpaginated;
    this.#denials = random.fork('denials');
    this.#lags = random.fork('lags');
    this.#pages = random.fork('pages');
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

  /** The caller's ARN, as policies and answers show it. */
  arnOf({ user, account = this.network.account }: Pick<Credential, 'user' | 'account'>): string {
    return `arn:aws:iam::${account}:user/${user}`;
  }

  /** The request behind a change, for change listeners; undefined otherwise. */
  get acting(): ActingRequest | undefined {
    const { acting } = this.#door;
    return acting && { action: acting.name, parameters: acting.parameters, caller: acting.caller };
  }

  /**
   * Calls an action with the SDKs' member names. Throws `Ec2Refusal`; `AnswerLost` if a fault lost the
   * answer, with or without an effect; `AnswerGarbled` if the answer is unreadable.
   */
  async call(action: string, input: Input, caller: Caller): Promise<Output> {
    const exchange = await this.exchange(action, input, caller);
    switch (exchange.kind) {
      case 'answered':
        return exchange.output.members;
      case 'refused':
        throw exchange.refusal;
      case 'lost':
        throw new AnswerLost(exchange.connection);
      case 'garbled':
        throw new AnswerGarbled(exchange.form);
    }
  }

  /** The same, with every outcome as a value. */
  exchange(action: string, input: Input, caller: Caller): Promise<Ec2Exchange> {
    this.onCall?.(caller, action);
    return this.#door.exchange({ name: action, parameters: input, caller });
  }

  #protocol(): Protocol<Ec2Call, Ec2Answer, Ec2Refusal> {
    return {
      authorise: ({ name, caller }) => {
        actionNamed(name);
        this.#authorize(name, caller);
      },
      limits: ({ name, parameters, caller }) => {
        if (!this.#limitsOf(caller).allow(bucketOf(name, parameters))) throw throttled();
      },
      accept: (call) => {
        const accepted: Input = accept(actionNamed(call.name).input, call.parameters);
        this.#refuseByPolicy(call.name, accepted, call.caller);
        return { ...call, parameters: withoutDryRun(accepted) };
      },
      run: (call) => this.#run(call),
      refusalOfFault,
      refusalOf: (error, { name }) => {
        const refusal = error instanceof CloudRefusal ? refusalOf(error.problem, name) : error;
        return refusal instanceof Ec2Refusal ? refusal : undefined;
      },
      isThrottled: ({ code }) => code === 'RequestLimitExceeded',
      garble,
      meanLatency,
      lengthLatency: ({ members }) => lengthLatency(lengthOf(members)),
    };
  }

  #authorize(action: string, caller: Caller): void {
    const isOurs = this.#accountOf(caller) === this.network.account;
    const isAllowed = this.allowedActions === undefined || this.allowedActions.has(action);
    if (isAllowed && (isOurs || answeredToOwners.has(action))) return;
    throw new Ec2Refusal(
      'UnauthorizedOperation',
      `You are not authorized to perform this operation. User: ${caller.arn} is not authorized to perform: ec2:${action} because no identity-based policy allows the ec2:${action} action`,
      403,
    );
  }

  /** Each account has limits of its own. */
  #limitsOf(caller: Caller): RequestLimits {
    const account = this.#accountOf(caller);
    if (account === this.network.account) return this.limits;
    const limits = this.#limitsOfOthers.get(account) ?? new RequestLimits(this.clock, this.#limitSettings);
    this.#limitsOfOthers.set(account, limits);
    return limits;
  }

  /** An ARN of another form is that of somebody in our account. */
  #accountOf({ arn }: Caller): string {
    return /^arn:aws:iam::(\d{12}):/.exec(arn)?.[1] ?? this.network.account;
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

  #run({ name, parameters, caller }: Ec2Call): Ec2Answer {
    const { consistency } = this.network;
    const { min, max } = consistency.listingLagMs;
    const context: ActionContext = {
      network: this.network,
      account: this.#accountOf(caller),
      view: this.network.view(min + this.#lags.next() * (max - min)),
      clientTokens: this.#clientTokens,
      pageTokens: this.#pageTokens,
      described: this.#described,
      random: this.#pages,
      refuseUnpaginated: this.refuseUnpaginated,
    };
    const action = actionNamed(name);
    return { members: action.run(parameters, context), shape: action.output };
  }
}

/** The action of that name; refuses an unknown one. */
function actionNamed(name: string): Action {
  const action = allActions.get(name);
  if (action === undefined) throw invalidAction(name);
  return action;
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

function refusalOfFault(fault: Extract<Fault, { kind: 'throttle' | 'error' }>): Ec2Refusal {
  return fault.kind === 'throttle' ? throttled() : new Ec2Refusal(fault.code, fault.message, fault.status);
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
