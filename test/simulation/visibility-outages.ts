// Reads that show nothing of what exists until a person repairs a region, an account or a role. Of an instance they
// show everything, nothing, or all but its primary interface. A controller must withdraw nothing for that.
import type { Ec2NetworkInterface } from '../../src/providers/aws/ec2-api.ts';
import type { OutageScope, FaultPlan } from './scenario.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'blind' }>;

interface Reply {
  readonly NetworkInterfaces?: readonly Ec2NetworkInterface[];
  readonly Reservations?: readonly {
    readonly Instances?: readonly { readonly InstanceId?: string }[];
  }[];
}

/** The list that is empty in an answer without results, by action. */
const lists: Readonly<Record<string, string>> = {
  DescribeNetworkInterfaces: 'NetworkInterfaces',
  DescribeInstances: 'Reservations',
  DescribeSubnets: 'Subnets',
  DescribeVpcs: 'Vpcs',
  DescribeRouteTables: 'RouteTables',
  DescribeSecurityGroups: 'SecurityGroups',
};

type AnswerFilter = (action: string, output: Reply) => object;

/** The part of an answer that is shown, by the scope of the outage. */
const filters: Readonly<
  Record<OutageScope, (plan: Plan, only: ReadonlySet<string> | undefined) => AnswerFilter>
> = {
  region: () => (action, output) => {
    const list = lists[action];
    return list === undefined ? output : { ...output, [list]: [] };
  },
  interfaces: () => (action, output) =>
    action === 'DescribeNetworkInterfaces' ? { ...output, NetworkInterfaces: [] } : output,
  primaries: () => (_, output) =>
    withInterfaces(output, ({ Attachment }) => Attachment === undefined || Attachment.DeviceIndex !== 0),
  secondaries: (_, only) => (__, output) =>
    withInterfaces(output, ({ Attachment }) => {
      const isPrimary = Attachment === undefined || Attachment.DeviceIndex === 0;
      return isPrimary || only?.has(Attachment.InstanceId ?? '') === false;
    }),
  instances:
    ({ share }) =>
    (_, output) =>
      withInstances(output, (id) => !isInShare(id, share)),
};

/** Longer than a listing takes, in ms. */
const maxListing = 2000;

/** Maximum time from hiding an interface until it is shown again, in ms: the time between two listings. */
const maxMissingTime = 300_000;

export interface VisibilityOutagesOptions {
  readonly now: () => number;
  /** Whether so many instances have a secondary interface that the withdrawal brake holds if all of them are missing. */
  readonly isWorthHiding: () => boolean;
}

export class VisibilityOutages {
  readonly #options: VisibilityOutagesOptions;
  #hiddenAt = -Infinity;
  /** When another read of interfaces than a listing was last answered. */
  #otherReadAt = -Infinity;
  readonly #awaitsListing = new Set<Plan>();
  /** The only instances of which it still hides something; undefined: all. */
  readonly #active = new Map<Plan, ReadonlySet<string> | undefined>();
  /** Instances that the cloud has forgotten. */
  readonly #forgotten = new Set<string>();

  constructor(options: VisibilityOutagesOptions) {
    this.#options = options;
  }

  /** Returns a function that ends it. */
  begin(plan: Plan): () => void {
    if (plan.what === 'secondaries') this.#awaitsListing.add(plan);
    else this.#active.set(plan, undefined);
    return () => {
      this.#awaitsListing.delete(plan);
      this.#active.delete(plan);
    };
  }

  /** From now on, hides secondary interfaces of these instances only, however few they are. */
  narrow(plan: Plan, instanceIds: ReadonlySet<string>): void {
    if (this.#active.has(plan)) this.#active.set(plan, instanceIds);
  }

  /** Permanently. */
  forget(instanceId: string): void {
    this.#forgotten.add(instanceId);
  }

  clear(): void {
    this.#awaitsListing.clear();
    this.#active.clear();
  }

  /** Whether hidden interfaces may still count as missing; nothing else may be hidden then. */
  isRecent(now: number): boolean {
    return now < this.#hiddenAt + maxMissingTime;
  }

  /** The part of an answer that reaches a process. `isListing`: of all interfaces, each of which is then examined. */
  shown(action: string, output: object, isListing: boolean): object {
    if (action === 'DescribeNetworkInterfaces' && !isListing) this.#otherReadAt = this.#options.now();
    this.#updateSecondaries(isListing);
    const isKnown = (id: string): boolean => !this.#forgotten.has(id);
    const known = this.#forgotten.size === 0 ? output : withInstances(output, isKnown);
    return this.#plans().reduce(
      (shown, [plan, only]) => filters[plan.what](plan, only)(action, shown),
      known,
    );
  }

  /** Hides secondary interfaces from a listing on, as long as so many are hidden that the withdrawal brake holds. */
  #updateSecondaries(isListing: boolean): void {
    if (this.#awaitsListing.size + this.#active.size === 0) return;
    const isWorthHiding = this.#options.isWorthHiding();
    for (const [plan, only] of this.#active)
      if (plan.what === 'secondaries' && only === undefined && !isWorthHiding) this.#active.delete(plan);
    const hidesNothing = this.#active.size === 0;
    if (isListing && hidesNothing && isWorthHiding && !this.#isOverlapped()) this.#beginAwaiting();
  }

  /** A listing does not examine what another read showed after the listing began. */
  #isOverlapped(): boolean {
    return this.#options.now() < this.#otherReadAt + maxListing;
  }

  #beginAwaiting(): void {
    for (const plan of this.#awaitsListing) this.#active.set(plan, undefined);
    this.#awaitsListing.clear();
  }

  /**
   * While secondary interfaces are hidden, nothing else is: with only some instances visible, and those in part, nothing
   * would show that too much is missing.
   */
  #plans(): readonly (readonly [Plan, ReadonlySet<string> | undefined])[] {
    const plans = [...this.#active];
    const alone = plans.find(([{ what }]) => what === 'secondaries');
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

/** Picks the same instances each time. */
function isInShare(instanceId: string, share: number): boolean {
  return Number.parseInt(instanceId.slice(-2), 16) / 256 < share;
}
