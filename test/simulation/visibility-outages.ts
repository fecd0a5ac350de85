// Reads that hide existing instances until a person repairs a region, an account or a role. They hide instances, primary
// interfaces, or all other interfaces. A controller must not withdraw anything because of such reads.
import type { Ec2NetworkInterface } from '../../src/providers/aws/ec2-api.ts';
import { keyOf } from '../../src/simulator/arm/resource-path.ts';
import { type Json, isObject, listAt, objectAt, textAt } from '../../src/simulator/workload/json.ts';
import { type Answer, type InterfaceRead, isList, isOfInterfaces, LackingLists } from './lacking-lists.ts';
import type { OutageScope, FaultPlan } from './scenario.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'blind' }>;

interface Reply extends Answer {
  readonly NetworkInterfaces?: readonly Ec2NetworkInterface[];
  readonly Reservations?: readonly {
    readonly Instances?: readonly { readonly InstanceId?: string }[];
  }[];
}

interface Read extends InterfaceRead {
  readonly output: Reply;
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

/** The most instances whose missing interfaces the withdrawal brake withdraws. */
const maxWithdrawn = 3;

/**
 * Maximum time from the last read during an outage until an interface that was hidden is shown again, in ms: the time
 * between two listings.
 */
const maxMissingTime = 300_000;

export interface VisibilityOutagesOptions {
  readonly now: () => number;
  /** Instances that would miss a secondary interface. */
  readonly withSecondary: () => readonly string[];
  /** Whether a controller examines now what lists lack of the instance: what it changes itself, when the change is over. */
  readonly isExamined: (instanceId: string) => boolean;
}

export class VisibilityOutages {
  readonly #options: VisibilityOutagesOptions;
  readonly #lists: LackingLists;
  #hiddenAt = -Infinity;
  readonly #awaitsListing = new Set<Plan>();
  /** The only instances of which it still hides something; undefined: all. */
  readonly #active = new Map<Plan, ReadonlySet<string> | undefined>();
  /** Instances that the cloud has forgotten. */
  readonly #forgotten = new Set<string>();

  constructor(options: VisibilityOutagesOptions) {
    this.#options = options;
    this.#lists = new LackingLists(options.now);
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

  /** The part of an answer that reaches a process. */
  shown(read: Read): object {
    const { action, output } = read;
    this.#updateSecondaries(isList(read));
    const isKnown = (id: string): boolean => !this.#forgotten.has(id);
    const known = this.#forgotten.size === 0 ? output : withInstances(output, isKnown);
    return this.#plansFor(read).reduce(
      (shown, [plan, only]) => filters[plan.what](plan, only)(action, shown),
      known,
    );
  }

  /** Hides secondary interfaces from a listing on, as long as so many are hidden that the withdrawal brake holds. */
  #updateSecondaries(isListing: boolean): void {
    if (this.#awaitsListing.size + this.#active.size === 0) return;
    const isWorthHiding = this.#options.withSecondary().length > maxWithdrawn;
    for (const [plan, only] of this.#active)
      if (plan.what === 'secondaries' && only === undefined && !isWorthHiding) this.#active.delete(plan);
    if (isListing && this.#active.size === 0 && isWorthHiding) this.#beginAwaiting();
  }

  #beginAwaiting(): void {
    this.#lists.clear();
    for (const plan of this.#awaitsListing) this.#active.set(plan, undefined);
    this.#awaitsListing.clear();
  }

  /**
   * While secondary interfaces are hidden, nothing else is: with only some instances visible, and those in part, nothing
   * would show that too much is missing.
   */
  #plansFor(read: Read): readonly (readonly [Plan, ReadonlySet<string> | undefined])[] {
    const plans = [...this.#active];
    const alone = plans.find(([{ what }]) => what === 'secondaries');
    const isWhole = this.#note(read, alone !== undefined);
    const now = this.#options.now();
    // Interfaces that this outage hid still count as missing while another outage hides them from reads.
    if (alone !== undefined || (plans.length > 0 && this.isRecent(now))) this.#hiddenAt = now;
    if (alone === undefined) return plans;
    const [, only] = alone;
    return isWhole && only === undefined ? [] : [alone];
  }

  /**
   * Notes which instances it lacks or shows interfaces of. Returns whether it must show all, because so few others lack any
   * that the withdrawal brake would let them go.
   */
  #note(read: Read, isHiding: boolean): boolean {
    if (!isOfInterfaces(read) || (!isHiding && this.#awaitsListing.size === 0)) return false;
    const secondary = listedIn(read.output).filter(
      ({ isPrimary, instanceId }) => !isPrimary && instanceId !== '',
    );
    const instanceIds = secondary.map(({ instanceId }) => instanceId);
    const able = new Set(this.#options.withSecondary());
    const isAble = (id: string): boolean => able.has(id);
    const isExamined = (id: string): boolean => able.has(id) && this.#options.isExamined(id);
    if (isList(read)) {
      if (isHiding) this.#lists.noteList(read, instanceIds, isExamined);
      return false;
    }
    const examination = { max: maxWithdrawn, isAble, isExamined };
    if (isHiding && this.#lists.lackAlone(read.identity, instanceIds, examination)) return false;
    this.#lists.noteShown(read.identity, instanceIds);
    return true;
  }
}

function listedIn({ NetworkInterfaces: all, body }: Reply): readonly Listed[] {
  return all?.map(onEc2) ?? listAt(body, 'value').filter(isInterface).map(onAzure);
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
