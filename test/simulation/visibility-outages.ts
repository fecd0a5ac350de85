// Reads that show nothing of what exists until a person repairs a region, an account or a role. Of an instance they
// show everything, nothing, or all but its primary interface. A controller must withdraw nothing for that.
import type { Ec2NetworkInterface } from '../../src/providers/aws/ec2-api.ts';
import { keyOf } from '../../src/simulator/arm/resource-path.ts';
import { type Json, isObject, listAt, objectAt, textAt } from '../../src/simulator/workload/json.ts';
import type { OutageScope, FaultPlan } from './scenario.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'blind' }>;

interface Reply {
  readonly NetworkInterfaces?: readonly Ec2NetworkInterface[];
  readonly Reservations?: readonly {
    readonly Instances?: readonly { readonly InstanceId?: string }[];
  }[];
  /** On Azure. */
  readonly body?: Json;
}

/** An interface in an answer. */
interface Listed {
  /** Empty if no instance has it. */
  readonly instanceId: string;
  readonly isPrimary: boolean;
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
    return list === undefined ? withInterfaces(output, () => false) : { ...output, [list]: [] };
  },
  interfaces: () => (_, output) => withInterfaces(output, () => false),
  primaries: () => (_, output) => withInterfaces(output, ({ isPrimary }) => !isPrimary),
  secondaries: (_, only) => (__, output) =>
    withInterfaces(
      output,
      ({ instanceId, isPrimary }) => isPrimary || instanceId === '' || only?.has(instanceId) === false,
    ),
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
  /** Whether so many instances would miss a secondary interface that the withdrawal brake holds. */
  readonly isWorthHiding: () => boolean;
  /**
   * Whether so many of these are examined at once. What a controller changes itself is examined when the change is over, and
   * the others may be withdrawn by then.
   */
  readonly isNoticed: () => boolean;
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
    if (isReadOfInterfaces(action) && !isListing) this.#otherReadAt = this.#options.now();
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
    if (isListing && hidesNothing && this.#options.isNoticed() && !this.#isOverlapped())
      this.#beginAwaiting();
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
  if (all === undefined) return withInterfaces(output, ({ instanceId }) => isShown(instanceId));
  const Reservations = all.map(({ Instances = [], ...rest }) => ({
    ...rest,
    Instances: Instances.filter(({ InstanceId = '' }) => isShown(InstanceId)),
  }));
  return { ...output, Reservations };
}

function withInterfaces(output: Reply, isShown: (item: Listed) => boolean): object {
  const { NetworkInterfaces: all, body } = output;
  if (all !== undefined) return { ...output, NetworkInterfaces: all.filter((item) => isShown(onEc2(item))) };
  if (!isObject(body) || !Array.isArray(body['value'])) return output;
  const value = listAt(body, 'value').filter((item) => !isInterface(item) || isShown(onAzure(item)));
  return { ...output, body: { ...body, value } };
}

function onEc2({ Attachment }: Ec2NetworkInterface): Listed {
  const { InstanceId: instanceId = '', DeviceIndex } = Attachment ?? {};
  return { instanceId, isPrimary: DeviceIndex === 0 };
}

function onAzure(item: Json): Listed {
  const properties = objectAt(item, 'properties');
  const instanceId = keyOf(textAt(properties, 'virtualMachine', 'id'));
  return { instanceId, isPrimary: properties['primary'] === true };
}

function isInterface(item: Json): boolean {
  return keyOf(textAt(item, 'id')).includes('/networkinterfaces/');
}

/** Picks the same instances each time. */
function isInShare(instanceId: string, share: number): boolean {
  const number = Number.parseInt(/[0-9a-f]{1,2}$/.exec(instanceId)?.[0] ?? '', 16);
  // On Azure they are numbered from 0.
  const spread = instanceId.startsWith('/') ? number * 157 : number;
  return (spread % 256) / 256 < share;
}

function isReadOfInterfaces(action: string): boolean {
  return action === 'DescribeNetworkInterfaces' || action.startsWith('Interfaces.');
}
