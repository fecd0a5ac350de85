// Readings that show nothing of what is there, for as long as it takes somebody to mend a region, an account or a role: of an
// instance either all is shown or nothing, or only its primary interface is hidden. Nothing may be taken away for that.
import type { Ec2NetworkInterface } from '../../src/providers/aws/ec2-api.ts';
import type { BlindTo, FaultPlan } from './scenario.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'blind' }>;

interface Reply {
  readonly NetworkInterfaces?: readonly Ec2NetworkInterface[];
  readonly Reservations?: readonly {
    readonly Instances?: readonly { readonly InstanceId?: string }[];
  }[];
}

/** What the cloud answers with where it has nothing of what was asked for. */
const lists: Readonly<Record<string, string>> = {
  DescribeNetworkInterfaces: 'NetworkInterfaces',
  DescribeInstances: 'Reservations',
  DescribeSubnets: 'Subnets',
  DescribeVpcs: 'Vpcs',
  DescribeRouteTables: 'RouteTables',
  DescribeSecurityGroups: 'SecurityGroups',
};

type Blind = (action: string, output: Reply) => object;

/** How much of an answer is shown, by what it is blind to. */
const blinds: Readonly<Record<BlindTo, (plan: Plan) => Blind>> = {
  region: () => (action, output) => {
    const list = lists[action];
    return list === undefined ? output : { ...output, [list]: [] };
  },
  interfaces: () => (action, output) =>
    action === 'DescribeNetworkInterfaces' ? { ...output, NetworkInterfaces: [] } : output,
  primaries: () => (_, output) =>
    withInterfaces(output, ({ Attachment }) => Attachment === undefined || Attachment.DeviceIndex !== 0),
  secondaries: () => (_, output) =>
    withInterfaces(output, ({ Attachment }) => Attachment === undefined || Attachment.DeviceIndex === 0),
  instances:
    ({ share }) =>
    (_, output) =>
      withInstances(output, (id) => !isAmong(id, share)),
};

/** From when an interface was hidden until it has surely been shown again, in ms: at most the time between two listings. */
const longestHold = 300_000;

export interface BlindnessOptions {
  readonly now: () => number;
  /** Whether so many instances have more than their primary interface that all of that cannot be gone. */
  readonly isWorthHiding: () => boolean;
}

export class Blindness {
  readonly #options: BlindnessOptions;
  #hiddenAt = -Infinity;
  readonly #awaitsListing = new Set<Plan>();
  readonly #active = new Set<Plan>();
  /** Instances that the cloud has forgotten. */
  readonly #forgotten = new Set<string>();

  constructor(options: BlindnessOptions) {
    this.#options = options;
  }

  /** Returns how to end it. */
  begin(plan: Plan): () => void {
    (plan.what === 'secondaries' ? this.#awaitsListing : this.#active).add(plan);
    return () => {
      this.#awaitsListing.delete(plan);
      this.#active.delete(plan);
    };
  }

  /** For good. */
  forget(instanceId: string): void {
    this.#forgotten.add(instanceId);
  }

  clear(): void {
    this.#awaitsListing.clear();
    this.#active.clear();
  }

  /** Whether hidden interfaces may still count as missing: nothing else is to be hidden then. */
  isRecent(now: number): boolean {
    return now < this.#hiddenAt + longestHold;
  }

  /** What of an answer reaches a process. `isListing`: of all interfaces, which one after the other are looked at then. */
  shown(action: string, output: object, isListing: boolean): object {
    this.#weighSecondaries(isListing);
    const isRemembered = (id: string): boolean => !this.#forgotten.has(id);
    const known = this.#forgotten.size === 0 ? output : withInstances(output, isRemembered);
    return this.#plans().reduce((shown, plan) => blinds[plan.what](plan)(action, shown), known);
  }

  /** Secondary interfaces are hidden from a listing on, and for as long as so many are that it cannot be true. */
  #weighSecondaries(isListing: boolean): void {
    if (this.#awaitsListing.size + this.#active.size === 0) return;
    const isWorthHiding = this.#options.isWorthHiding();
    for (const plan of this.#active)
      if (plan.what === 'secondaries' && !isWorthHiding) this.#active.delete(plan);
    if (!isListing || !isWorthHiding || this.#active.size > 0) return;
    for (const plan of this.#awaitsListing) this.#active.add(plan);
    this.#awaitsListing.clear();
  }

  /** Where only some instances are seen, and those in part, nothing tells that too much is missing. */
  #plans(): readonly Plan[] {
    const plans = [...this.#active];
    const alone = plans.find(({ what }) => what === 'secondaries');
    if (alone === undefined) return plans;
    this.#hiddenAt = this.#options.now();
    return [alone];
  }
}

function withInstances(output: Reply, isShown: (instanceId: string) => boolean): object {
  const { Reservations: all } = output;
  if (all === undefined)
    return withInterfaces(output, ({ Attachment }) => isShown(Attachment?.InstanceId ?? ''));
  const Reservations = all.map(({ Instances = [], ...rest }) => ({
    ...rest,
    Instances: Instances.filter(({ InstanceId = '' }) => isShown(InstanceId)),
  }));
  return { ...output, Reservations };
}

function withInterfaces(output: Reply, isShown: (item: Ec2NetworkInterface) => boolean): object {
  const { NetworkInterfaces: all } = output;
  return all === undefined ? output : { ...output, NetworkInterfaces: all.filter(isShown) };
}

/** The same ones each time. */
function isAmong(instanceId: string, share: number): boolean {
  return Number.parseInt(instanceId.slice(-2), 16) / 256 < share;
}
