// Reads that omit existing resources, as an eventually consistent cloud may: an interface with pod addresses, or these
// addresses. An omission is shorter than a consistency window and does not soon recur, so two reads a window apart see
// everything.
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

/** An interface in the answer of a cloud. */
export interface ListedInterface<Item> {
  readonly id: string;
  readonly instanceId: string;
  /** Also those of its prefixes. */
  readonly addresses: readonly string[];
  /** The item with its primary address and these addresses only. */
  readonly withOnly: (isShown: (address: string) => boolean) => Item;
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

  /** The interfaces of an answer that reach the process. */
  shown<Item>(
    reader: string,
    items: readonly Item[],
    read: (item: Item) => ListedInterface<Item>,
  ): readonly Item[] {
    const isFirst = !this.#readers.has(reader);
    this.#readers.add(reader);
    const interfaces = this.#armed.length === 0 ? [] : items.map(read);
    this.#armed = this.#armed.filter((armed) => !this.#begins(armed, isFirst, interfaces));
    if (this.#active.size === 0) return items;
    return items.flatMap((item) => this.#shownOf(item, read(item)));
  }

  #begins(
    { plan, instanceId }: Armed,
    isFirst: boolean,
    interfaces: readonly Omit<ListedInterface<unknown>, 'withOnly'>[],
  ): boolean {
    if (plan.from === 'next leader' && !isFirst) return false;
    const now = this.#options.now();
    const inUse = this.#options.inUse(instanceId);
    const chosen = interfaces.find(
      (item) =>
        item.instanceId === instanceId &&
        now > (this.#active.get(item.id)?.until ?? -Infinity) + pause &&
        item.addresses.some((address) => inUse.has(address)),
    );
    if (chosen === undefined) return false;
    this.#active.set(chosen.id, { plan, until: now + plan.for });
    this.#options.onBegin(plan);
    return true;
  }

  #shownOf<Item>(item: Item, { id, instanceId, withOnly }: ListedInterface<Item>): readonly Item[] {
    const active = this.#active.get(id);
    if (active === undefined || active.until < this.#options.now()) return [item];
    if (active.plan.what === 'interface') return [];
    const inUse = this.#options.inUse(instanceId);
    return [withOnly((address) => !inUse.has(address))];
  }
}
