// A cloud with one instance whose interfaces come and go, with late and torn reads: every read shows each interface as it
// was at some time between the longest lag before the request and the answer. It drives an inventory as the controller
// does, and records what the inventory drops although the cloud has it.
import { Inventory } from '../../../src/providers/inventory/inventory.ts';
import type { NetworkInterface } from '../../../src/providers/contract/network-interface.ts';
import type { Observation } from '../../../src/providers/contract/facts.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { attachment, networkInterface } from './interfaces.ts';
import { ended } from './inventory-rig.ts';

export const consistencyWindow = 1000;
/** The longest lag of a read at its request. */
const lag = 600;
/** Maximum duration of a call. */
const latency = 300;

/** Addresses by interface. */
type State = ReadonlyMap<string, readonly string[]>;

export class CloudHistory {
  readonly clock = new VirtualClock();
  readonly #random: Random;
  readonly #states: { readonly at: number; readonly state: State }[] = [];
  readonly #lost: string[] = [];
  /** Addresses that were released and that we requested again, until the answer came. */
  readonly #unanswered = new Set<string>();
  readonly #released: string[] = [];
  #inventory = newInventory();
  #refreshing = false;
  #names = 0;

  constructor(seed: string) {
    this.#random = new Random(seed);
    this.#states.push({ at: -Infinity, state: new Map([['eni-1', ['first']]]) });
    this.#inventory.track('i-1');
  }

  /** What the inventory dropped although the cloud had it and no call about it was in flight. */
  get lost(): readonly string[] {
    return this.#lost;
  }

  /** Makes this many random changes and reads. */
  async unfold(steps: number): Promise<void> {
    const moves = [
      () => this.#otherClientAssigns(),
      () => this.#otherClientUnassigns(),
      () => this.#otherClientCreates(),
      () => this.#interfaceGoes(),
      () => this.#allocate(),
      () => this.#allocate(),
      () => this.#attach(),
      () => this.#list(),
      () => this.#list(),
      () => this.#refresh(),
      () => this.#restart(),
    ];
    for (let step = 0; step < steps; step++) {
      this.#random.pick(moves)();
      await this.#pass(this.#random.integer(this.#random.chance(0.2) ? 2 * consistencyWindow : 200));
    }
  }

  /** Waits until everything in flight has ended, and then makes two refreshes a window apart. */
  async settle(): Promise<void> {
    await this.#pass(consistencyWindow + 2 * latency);
    for (let refresh = 0; refresh < 2; refresh++) {
      this.#refresh();
      await this.clock.advance(consistencyWindow + latency);
    }
  }

  inCloud(): string[] {
    return describe(this.#states.at(-1)?.state ?? new Map<string, string[]>());
  }

  inInventory(): string[] {
    const interfaces = this.#inventory.view('i-1')?.interfaces ?? [];
    return describe(new Map(interfaces.map((item) => [item.id, item.addresses])));
  }

  /** Advances time, and starts each refresh when it is due. */
  async #pass(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    while (this.clock.monotonic() < end) {
      const due = this.#inventory.view('i-1')?.refreshDue ?? Infinity;
      if (due <= this.clock.monotonic()) this.#refresh();
      await this.clock.advance(Math.min(10, end - this.clock.monotonic()));
    }
  }

  #change(edit: (state: Map<string, readonly string[]>) => void): void {
    const state = new Map(this.#states.at(-1)?.state);
    edit(state);
    this.#states.push({ at: this.clock.monotonic(), state });
  }

  #otherClientAssigns(): void {
    this.#change((state) => {
      const id = this.#anyInterface(state);
      if (id !== undefined) state.set(id, [...(state.get(id) ?? []), this.#name('other')]);
    });
  }

  #otherClientUnassigns(): void {
    this.#change((state) => {
      const id = this.#anyInterface(state);
      const held = state.get(id ?? '') ?? [];
      if (id === undefined || held.length === 0) return;
      const gone = this.#random.pick(held);
      this.#released.push(gone);
      state.set(
        id,
        held.filter((address) => address !== gone),
      );
    });
  }

  #otherClientCreates(): void {
    this.#change((state) => state.set(this.#name('eni-other'), [this.#name('other')]));
  }

  #interfaceGoes(): void {
    this.#change((state) => {
      const id = this.#anyInterface(state);
      // An instance keeps its primary interface for life.
      if (id !== undefined && id !== 'eni-1') state.delete(id);
    });
  }

  /** The cloud assigns an address, often one that was released before. */
  #allocate(): void {
    const inventory = this.#inventory;
    const known = inventory.view('i-1')?.interfaces.map(({ id }) => id) ?? [];
    if (known.length === 0) return;
    const id = this.#random.pick(known);
    const again = this.#random.chance(0.6) ? this.#released.pop() : undefined;
    const address = again ?? this.#name('own');
    const duration = this.#random.integer(latency);
    this.clock.schedule(this.#random.integer(duration + 1), () => {
      const held = this.#states.at(-1)?.state.get(id);
      if (held === undefined) return;
      this.#unanswered.add(address);
      this.#change((state) => state.set(id, [...held, address]));
    });
    this.clock.schedule(duration, () => {
      if (!this.#unanswered.has(address) || inventory !== this.#inventory) return;
      const answer = {
        kind: 'allocated',
        interfaceId: id,
        instanceId: 'i-1',
        addresses: [address],
        prefixes: [],
      } as const;
      this.#applying(inventory, () => inventory.applyAnswer(answer, this.clock.monotonic()));
      this.#unanswered.delete(address);
    });
  }

  #attach(): void {
    const inventory = this.#inventory;
    const id = this.#name('eni-own');
    const held = [this.#name('own')];
    const made = record(id, held, { attachment: undefined });
    inventory.applyAnswer({ kind: 'created', interface: made }, this.clock.monotonic());
    const duration = this.#random.integer(latency);
    this.clock.schedule(this.#random.integer(duration + 1), () =>
      this.#change((state) => state.set(id, held)),
    );
    this.clock.schedule(duration, () => {
      const at = { interfaceId: id, instanceId: 'i-1', deviceIndex: 1, attachmentId: 'attach-1' };
      this.#applying(inventory, () =>
        inventory.applyAnswer({ kind: 'attached', ...at }, this.clock.monotonic()),
      );
    });
  }

  #refresh(): void {
    if (this.#refreshing) return;
    this.#refreshing = true;
    const inventory = this.#inventory;
    const startedAt = this.clock.monotonic();
    this.clock.schedule(this.#random.integer(latency), () => {
      this.#refreshing = false;
      const observations = this.#shown(startedAt);
      const refresh = { startedAt, endedAt: this.clock.monotonic(), instanceIds: ['i-1'], observations };
      this.#applying(inventory, () => inventory.applyRefresh(refresh));
    });
  }

  /** A listing in which each interface may be on another page, requested at another time. */
  #list(): void {
    const inventory = this.#inventory;
    const listing = inventory.beginListing(this.clock.monotonic());
    const pages = 1 + this.#random.integer(3);
    const nextPage = (page: number): void => {
      const startedAt = this.clock.monotonic();
      this.clock.schedule(this.#random.integer(latency), () => {
        const observations = this.#shown(startedAt).filter((_, index) => index % pages === page);
        this.#applying(inventory, () => listing.apply(observations, startedAt));
        if (page + 1 < pages) nextPage(page + 1);
        // Its end pauses for others.
        else
          this.clock.schedule(this.#random.integer(latency), () =>
            this.#applying(inventory, () => ended(listing)),
          );
      });
    };
    nextPage(0);
  }

  /** Another controller takes over and restores the published state. */
  #restart(): void {
    this.#unanswered.clear();
    this.#refreshing = false;
    const published = this.#inventory.view('i-1')?.interfaces ?? [];
    this.#inventory = newInventory();
    this.#inventory.track('i-1', published, this.clock.monotonic(), { pendingRelease: new Set() });
  }

  #shown(startedAt: number): Observation[] {
    const everSeen = new Set(this.#states.flatMap(({ state }) => [...state.keys()]));
    return [...everSeen].flatMap((id) => {
      const earliest = startedAt - lag;
      const asOf = earliest + this.#random.next() * (this.clock.monotonic() - earliest);
      const held = this.#stateAt(asOf).get(id);
      return held === undefined ? [] : [{ kind: 'interface', interface: record(id, held) } as const];
    });
  }

  #stateAt(time: number): State {
    return this.#states.findLast(({ at }) => at <= time)?.state ?? new Map<string, string[]>();
  }

  #applying(inventory: Inventory, apply: () => unknown): void {
    // An answer to a former controller does not concern the current one.
    if (inventory !== this.#inventory) return;
    const before = this.inInventory();
    apply();
    const after = new Set(this.inInventory());
    const there = new Set(this.inCloud());
    for (const item of before) {
      const unanswered = this.#unanswered.has(item.split('/')[1] ?? '');
      if (!after.has(item) && there.has(item) && !unanswered) {
        this.#lost.push(`${item} at ${this.clock.monotonic()}`);
      }
    }
  }

  #anyInterface(state: State): string | undefined {
    return state.size === 0 ? undefined : this.#random.pick([...state.keys()]);
  }

  #name(kind: string): string {
    return `${kind}-${this.#names++}`;
  }
}

function newInventory(): Inventory {
  return new Inventory({ consistencyWindow });
}

function record(
  id: string,
  held: readonly string[],
  change: Partial<NetworkInterface> = {},
): NetworkInterface {
  return networkInterface({
    id,
    primaryAddress: `primary of ${id}`,
    addresses: held,
    attachment: attachment({ deviceIndex: id === 'eni-1' ? 0 : 1 }),
    ...change,
  });
}

function describe(state: State): string[] {
  return [...state].flatMap(([id, held]) => [id, ...held.map((address) => `${id}/${address}`)]).sort();
}
