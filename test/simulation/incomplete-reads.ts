// Reads that omit existing resources, as an eventually consistent cloud may: an interface with pod addresses, or these
// addresses. An omission is shorter than a consistency window and does not soon recur, so two reads a window apart see
// everything.
import type { Ec2NetworkInterface } from '../../src/providers/aws/ec2-api.ts';
import { membersOf } from './invariants/assignments.ts';
import type { FaultPlan } from './scenario.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'omission' }>;

interface Armed {
  readonly plan: Plan;
  readonly instanceId: string;
}

interface Active {
  readonly plan: Plan;
  readonly until: number;
}

export interface IncompleteReadsOptions {
  readonly now: () => number;
  /** Addresses that pods of the instance hold. */
  readonly inUse: (instanceId: string) => ReadonlySet<string>;
  readonly onBegin: (plan: Plan) => void;
}

/** After an omission of an interface, no other one for this long, in ms. */
const pause = 600_000;

export class IncompleteReads {
  readonly #options: IncompleteReadsOptions;
  #armed: Armed[] = [];
  /** By interface. */
  readonly #active = new Map<string, Active>();
  readonly #readers = new Set<string>();

  constructor(options: IncompleteReadsOptions) {
    this.#options = options;
  }

  arm(plan: Plan, instanceId: string): void {
    this.#armed.push({ plan, instanceId });
  }

  clear(): void {
    this.#armed = [];
    this.#active.clear();
  }

  /** The interfaces of an answer to DescribeNetworkInterfaces that reach the process. */
  shown(reader: string, interfaces: readonly Ec2NetworkInterface[]): readonly Ec2NetworkInterface[] {
    const isFirst = !this.#readers.has(reader);
    this.#readers.add(reader);
    this.#armed = this.#armed.filter((armed) => !this.#begins(armed, isFirst, interfaces));
    if (this.#active.size === 0) return interfaces;
    return interfaces.flatMap((item) => this.#shownOf(item));
  }

  #begins(
    { plan, instanceId }: Armed,
    isFirst: boolean,
    interfaces: readonly Ec2NetworkInterface[],
  ): boolean {
    if (plan.from === 'next leader' && !isFirst) return false;
    const now = this.#options.now();
    const inUse = this.#options.inUse(instanceId);
    const fitting = interfaces.filter(
      ({ NetworkInterfaceId: id = '', Attachment }) =>
        Attachment?.InstanceId === instanceId && now > (this.#active.get(id)?.until ?? -Infinity) + pause,
    );
    const [chosen] = fitting.filter((item) => addressesOf(item).some((address) => inUse.has(address)));
    if (chosen?.NetworkInterfaceId === undefined) return false;
    this.#active.set(chosen.NetworkInterfaceId, { plan, until: now + plan.for });
    this.#options.onBegin(plan);
    return true;
  }

  #shownOf(item: Ec2NetworkInterface): readonly Ec2NetworkInterface[] {
    const active = this.#active.get(item.NetworkInterfaceId ?? '');
    if (active === undefined || active.until < this.#options.now()) return [item];
    if (active.plan.what === 'interface') return [];
    const inUse = this.#options.inUse(item.Attachment?.InstanceId ?? '');
    const isShown = (address: string | undefined): boolean => !inUse.has(address ?? '');
    return [
      {
        ...item,
        PrivateIpAddresses: item.PrivateIpAddresses?.filter(
          ({ PrivateIpAddress: address, Primary }) => Primary === true || isShown(address),
        ),
        Ipv4Prefixes: [],
      },
    ];
  }
}

function addressesOf({ PrivateIpAddresses = [], Ipv4Prefixes = [] }: Ec2NetworkInterface): readonly string[] {
  return [
    ...PrivateIpAddresses.flatMap(({ PrivateIpAddress: address }) => address ?? []),
    ...Ipv4Prefixes.flatMap(({ Ipv4Prefix: prefix }) => (prefix === undefined ? [] : membersOf(prefix))),
  ];
}
