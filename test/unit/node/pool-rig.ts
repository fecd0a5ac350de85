// A pool maintainer with a small cloud whose answers a test scripts, in virtual time. The answers of the cloud go
// into a real inventory and a real subnet ledger; each callback leads to a new evaluation, as in a reconciler.
import { podAddresses, unconfirmedIn } from '../../../src/node/demand/capacity.ts';
import type { NodeRequirements } from '../../../src/node/demand/node-requirements.ts';
import type { FinishedStep } from '../../../src/node/allocate/step-result.ts';
import { Growth } from '../../../src/node/allocate/growth.ts';
import { PoolMaintainer } from '../../../src/node/allocate/pool-maintainer.ts';
import type { AllocationPlan } from '../../../src/node/allocate/allocation-plan.ts';
import { BlockedResources } from '../../../src/node/allocate/blocked-resources.ts';
import type { Refund, CloudTraits } from '../../../src/providers/contract/cloud.ts';
import type { InstanceLimits } from '../../../src/providers/contract/facts.ts';
import type { Operation, Outcome } from '../../../src/providers/contract/operations.ts';
import { Inventory } from '../../../src/providers/inventory/inventory.ts';
import { MutationPermission, noPauses } from '../../../src/providers/gate/mutation-permission.ts';
import type { NetworkInterface } from '../../../src/providers/contract/network-interface.ts';
import { Orphans } from '../../../src/providers/orphans/orphans.ts';
import { SubnetLedger } from '../../../src/providers/catalog/subnet-ledger.ts';
import type { Priority } from '../../../src/providers/contract/priority.ts';
import { VisibilityLag } from '../../../src/providers/inventory/visibility-lag.ts';
import { TaskGroup } from '../../../src/runtime/task-group.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import type { MaintainedFacts } from '../../../src/node/allocate/step-execution.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { scriptedImplementation, traits } from '../providers/scripted-implementation.ts';
import { eni, infrastructure, m5Large, requirements, subnet } from './allocation-facts.ts';
import { attached, created, done } from './outcomes.ts';

export interface PoolSetup {
  /** Pod addresses that the node needs. */
  readonly target?: number;
  /** Maximum number of pod addresses. */
  readonly max?: number;
  readonly interfaces?: readonly NetworkInterface[];
  readonly node?: Partial<NodeRequirements>;
  readonly limits?: InstanceLimits;
  /** Free addresses by subnet. */
  readonly free?: Readonly<Record<string, number>>;
  /** The outcome of an operation; undefined: it succeeds. The first operation of each kind is number 0. */
  readonly outcome?: (operation: Operation, number: number) => Outcome | undefined;
  /** Duration of each call, in ms. */
  readonly duration?: number;
  /** Duration of each refresh, in ms. */
  readonly refreshDuration?: number;
  /** Whether admissions wait for `admitNext`. */
  readonly crowded?: boolean;
  /** How early timers fire, in ms. */
  readonly haste?: number;
  readonly spreadCalls?: boolean;
  readonly traits?: Partial<CloudTraits>;
  /** An interface that is being released. */
  readonly leaving?: readonly string[];
  /** How long calls wait for the rate limits, by the first operation of a step, in ms. */
  readonly waits?: Readonly<Partial<Record<Operation['kind'], number>>>;
  /** Whether no call gets a place among the requests in flight. */
  readonly stuck?: boolean;
  /** The interfaces that a refresh shows; by default the known ones. */
  readonly shown?: (known: readonly NetworkInterface[]) => readonly NetworkInterface[];
}

export const callTimeout = 10_000;
export const consistencyWindow = 30_000;
const never = new AbortController().signal;

export class PoolRig {
  readonly clock = new VirtualClock();
  readonly inventory = new Inventory({ consistencyWindow });
  readonly ledger = new SubnetLedger();
  readonly blocked = new BlockedResources({ clock: this.clock, random: new Random('set aside') });
  readonly maintainer: PoolMaintainer;
  readonly permission = new MutationPermission(noPauses);
  readonly orphans: Orphans;
  /** `allocate eni-0+8@ms`, for prefixes `allocate eni-0+2x16@ms`, `create subnet-1+9@ms`, `attach eni-0 1@ms`, `delete eni-0@ms`: calls as they are sent. */
  readonly calls: string[] = [];
  readonly steps: FinishedStep[] = [];
  readonly bugs: unknown[] = [];
  readonly invalidations: number[] = [];
  /** Start of each refresh. */
  readonly refreshes: number[] = [];
  /** When the maintainer announced that the priority of waiting calls has risen. */
  readonly reconsidered: number[] = [];
  priority: Priority = 'normal';
  /** Kinds of the operations that were refunded, joined; `all` if it was everything that was admitted together. */
  readonly refunds: string[] = [];
  target: number;
  ipv6: MaintainedFacts['need']['ipv6'] = 'needless';
  formerUntil = -Infinity;
  served = true;
  readonly #setup: PoolSetup;
  readonly #pending: (() => void)[] = [];
  readonly #counts = new Map<string, number>();
  #interfaces = 0;
  #addresses = 0;
  #blocks = 0;
  #lastPlan: AllocationPlan | undefined;
  #endWait: () => void = () => undefined;
  readonly tasks = new TaskGroup({
    clock: this.clock,
    onBug: (error) => this.bugs.push(error),
    onEnd: () => void this.clock.schedule(0, () => this.evaluate()),
  });

  constructor(setup: PoolSetup = {}) {
    this.#setup = setup;
    const { haste = 0 } = setup;
    const schedule = this.clock.schedule.bind(this.clock);
    this.clock.schedule = (ms, action) => schedule(ms > haste ? ms - haste : ms, action);
    this.target = setup.target ?? 8;
    const observations = (setup.interfaces ?? [eni(0)]).map(
      (item) => ({ kind: 'interface', interface: item }) as const,
    );
    this.inventory.track('i-1');
    this.inventory.applyRefresh({ startedAt: 0, endedAt: 0, instanceIds: ['i-1'], observations });
    this.ledger.observe(new Map(Object.entries(this.#free())), 0);
    this.orphans = new Orphans({
      isHeld: () => false,
      changedAt: () => -Infinity,
      consistencyWindow,
      onLeft: () => void this.clock.schedule(1000, () => this.readOrphans([])),
    });
    this.orphans.apply({ startedAt: 0, endedAt: 0, interfaces: [] });
    const priority = (): Priority => this.priority;
    this.maintainer = new PoolMaintainer({
      node: {
        instanceId: 'i-1',
        implementation: scriptedImplementation({
          traits: this.#traits,
          admit: (_, { signal }) => this.#admit(signal),
          reconsider: () => this.reconsidered.push(this.clock.monotonic()),
          expectedWait: ([first]) => (first === undefined ? 0 : (setup.waits?.[first] ?? 0)),
          perform: (operation, { signal }) => this.#perform(operation, signal),
        }),
        growth: new Growth(),
        get priority() {
          return priority();
        },
        forAllocation: () => this.#facts(),
        applyAnswer: (answer) => void this.inventory.applyAnswer(answer, this.clock.monotonic()),
        invalidate: (from) => void this.invalidations.push(from),
        refresh: () => this.#refresh(),
        refusal: (activity) => this.permission.refusal(activity),
        tell: ({ finished }) => this.steps.push(finished),
      },
      supply: {
        ledger: this.ledger,
        blocked: this.blocked,
        orphans: this.orphans,
        visibilityLag: new VisibilityLag(),
      },
      inventory: this.inventory,
      settings: {
        timing: { callTimeout, consistencyWindow },
        formerUntil: () => this.formerUntil,
        interfaceTags: { owner: 'headwater' },
        spreadCalls: setup.spreadCalls ?? false,
      },
      runtime: { clock: this.clock, random: new Random('pool'), tasks: this.tasks },
    });
  }

  /** A reading that shows these interfaces detached. */
  readOrphans(interfaces: readonly NetworkInterface[]): void {
    const now = this.clock.monotonic();
    this.orphans.apply({ startedAt: now, endedAt: now, interfaces });
    this.clock.schedule(0, () => this.evaluate());
  }

  evaluate(): void {
    this.#lastPlan = undefined;
    if (this.tasks.isClosing) return;
    const { plan, requeueAfter } = this.maintainer.step(this.clock.monotonic());
    this.#lastPlan = plan;
    this.#endWait();
    if (requeueAfter !== undefined) this.#endWait = this.clock.schedule(requeueAfter, () => this.evaluate());
  }

  /** The plan of the last evaluation. */
  get plan(): AllocationPlan | undefined {
    return this.#lastPlan;
  }

  /** Pod addresses of the node. */
  get available(): number {
    const view = this.inventory.view('i-1');
    return view === undefined ? 0 : podAddresses(view, this.#requirements()).size;
  }

  /** Waits for the rate limits. */
  get waiting(): number {
    return this.#pending.length;
  }

  admitNext(): void {
    this.#pending.shift()?.();
  }

  async run(ms: number): Promise<void> {
    this.evaluate();
    await this.clock.advance(ms);
  }

  get #traits(): CloudTraits {
    return { ...traits, ...this.#setup.traits };
  }

  #free(): Readonly<Record<string, number>> {
    return this.#setup.free ?? { 'subnet-1': 100 };
  }

  #requirements(): NodeRequirements {
    return requirements(this.#setup.node);
  }

  #facts(): MaintainedFacts | undefined {
    const view = this.inventory.view('i-1');
    if (view === undefined || !this.served) return undefined;
    return {
      view,
      limits: this.#setup.limits ?? m5Large,
      requirements: this.#requirements(),
      network: {
        infrastructure: infrastructure(Object.keys(this.#free()).map((id) => subnet(id))),
        free: (id) => this.ledger.free(id, this.clock.monotonic()),
        maxPrefixes: (id) => this.ledger.maxPrefixes(id, this.clock.monotonic()),
      },
      need: {
        wanted: Math.max(0, this.target - this.available),
        ipv6: this.ipv6,
        max: (this.#setup.max ?? Infinity) - this.available - unconfirmedIn(view),
      },
      orphans: this.orphans.of('i-1'),
      traits: this.#traits,
      shrinking: new Set(this.#setup.leaving),
    };
  }

  #admit(signal: AbortSignal): Promise<Refund> {
    const refund: Refund = (kinds) => {
      this.refunds.push(kinds?.join() ?? 'all');
    };
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#setup.crowded !== true) return Promise.resolve(refund);
    return new Promise((resolve, reject) => {
      const admitted = (): void => resolve(refund);
      this.#pending.push(admitted);
      signal.addEventListener('abort', () => {
        this.#pending.splice(this.#pending.indexOf(admitted), 1);
        reject(signal.reason as Error);
      });
    });
  }

  async #perform(operation: Operation, signal: AbortSignal): Promise<Outcome> {
    signal.throwIfAborted();
    if (this.#setup.stuck === true) await sleep(this.clock, 3_600_000, signal);
    this.calls.push(`${inShort(operation)}@${Math.round(this.clock.monotonic())}`);
    const number = this.#counts.get(operation.kind) ?? 0;
    this.#counts.set(operation.kind, number + 1);
    await sleep(this.clock, this.#setup.duration ?? 0, never);
    return this.#setup.outcome?.(operation, number) ?? this.#success(operation);
  }

  #success(operation: Operation): Outcome {
    switch (operation.kind) {
      case 'createInterface': {
        const place = 10 + this.#interfaces++;
        const prefixes = this.#prefixes(operation.prefixCount);
        return created(`eni-new${place}`, operation.addressCount, place, prefixes);
      }
      case 'attachInterface':
        return attached(operation.interfaceId, operation.deviceIndex);
      case 'allocateIPs': {
        const { interfaceId, instanceId, count } = operation;
        const addresses = Array.from({ length: count }, () => `10.200.0.${this.#addresses++}`);
        return done({ kind: 'allocated', interfaceId, instanceId, addresses, prefixes: [] });
      }
      case 'allocatePrefixes': {
        const { interfaceId, instanceId, count } = operation;
        const prefixes = this.#prefixes(count);
        return done({ kind: 'allocated', interfaceId, instanceId, addresses: [], prefixes });
      }
      case 'deleteInterface':
        return done({ kind: 'deleted', interfaceId: operation.interfaceId });
      default:
        throw new Error(`${operation.kind} is not the pool maintainer's`);
    }
  }

  #prefixes(count: number): string[] {
    return Array.from({ length: count }, () => {
      const place = this.#blocks++;
      return `10.${201 + (place >> 12)}.${(place >> 4) & 255}.${(place & 15) * 16}/28`;
    });
  }

  async #refresh(): Promise<void> {
    const startedAt = this.clock.monotonic();
    this.refreshes.push(startedAt);
    await sleep(this.clock, this.#setup.refreshDuration ?? 0, never);
    const { interfaces = [], unreadable = [] } = this.inventory.view('i-1') ?? {};
    const shown = this.#setup.shown?.(interfaces) ?? interfaces;
    const observations = [
      ...shown.map((item) => ({ kind: 'interface', interface: item }) as const),
      ...unreadable.map((item) => ({ kind: 'unreadableInterface', interface: item }) as const),
    ];
    this.inventory.applyRefresh({
      startedAt,
      endedAt: this.clock.monotonic(),
      instanceIds: ['i-1'],
      observations,
    });
  }
}

function inShort(operation: Operation): string {
  switch (operation.kind) {
    case 'createInterface':
      return `create ${operation.subnetId}+${countOf(operation.addressCount, operation.prefixCount)}`;
    case 'attachInterface':
      return `attach ${operation.interfaceId} ${operation.deviceIndex}`;
    case 'allocateIPs':
      return `allocate ${operation.interfaceId}+${countOf(operation.count, 0)}`;
    case 'allocatePrefixes':
      return `allocate ${operation.interfaceId}+${countOf(0, operation.count)}`;
    case 'deleteInterface':
      return `delete ${operation.interfaceId}`;
    default:
      return `${operation.kind} ${operation.interfaceId}`;
  }
}

function countOf(addresses: number, prefixes: number): string {
  return prefixes > 0 ? `${prefixes}x16` : String(addresses);
}

/** Operations of this kind have this outcome. */
export function always(kind: Operation['kind'], outcome: Outcome) {
  return (operation: Operation): Outcome | undefined => (operation.kind === kind ? outcome : undefined);
}

/** Calls without their times. */
export function untimed(calls: readonly string[]): string[] {
  return calls.map((call) => call.split('@')[0] ?? '');
}

/** Times of the calls that start with `what`. */
export function timesOf(calls: readonly string[], what: string): number[] {
  return calls.filter((call) => call.startsWith(what)).map((call) => Number(call.split('@')[1]));
}
