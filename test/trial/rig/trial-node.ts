// A minimal agent of a trial: which addresses it uses, what it writes about them, and which ones it loses. It relies on
// nothing of the controller.
import { aws } from '../../../src/simulator/workload/clouds/aws.ts';
import {
  isObject,
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textMapAt,
  textsAt,
} from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';

export interface Shown {
  readonly version: number;
  /** Interface by address. */
  readonly pool: ReadonlyMap<string, string>;
  /** Addresses by interface. */
  readonly interfaces: ReadonlyMap<string, ReadonlySet<string>>;
  readonly states: ReadonlyMap<string, string>;
  readonly used: JsonObject;
  readonly allocated: ReadonlySet<string>;
  readonly requested: number;
  readonly error: string;
}

export interface Patch {
  readonly part: '' | '/status';
  readonly body: JsonObject;
}

export class TrialNode {
  readonly facts: NodeFacts;
  /** Addresses that the node must use. */
  #wanted: number;
  readonly #inUse = new Set<string>();
  /** CIDRs that an agent of the multi-pool protocol holds, by address. */
  #held: ReadonlySet<string> = new Set();
  #shown: Shown | undefined;
  /** Addresses that were in use while they were not offered. */
  readonly lost = new Set<string>();
  /** The machine is gone: it uses nothing. */
  isGone = false;

  constructor(facts: NodeFacts, wanted: number) {
    this.facts = facts;
    this.#wanted = wanted;
  }

  get shown(): Shown | undefined {
    return this.#shown;
  }

  /** As last seen. */
  get version(): number {
    return this.#shown?.version ?? 0;
  }

  get inUse(): ReadonlySet<string> {
    return this.isGone ? new Set() : this.#inUse;
  }

  /** Number of addresses that it requests, used and free. */
  get demand(): number {
    return this.#wanted + (this.facts.ipam?.preAllocate ?? 0);
  }

  /** It uses what it must use, its CiliumNode shows that, and it is offered exactly what it requests. */
  get isSettled(): boolean {
    const shown = this.#shown;
    if (shown === undefined || this.#inUse.size !== this.#wanted) return false;
    return shown.pool.size === this.demand && shown.states.size === 0 && this.nextPatch() === undefined;
  }

  use(count: number): void {
    this.#wanted = count;
  }

  see(object: JsonObject): void {
    const shown = shownBy(object);
    if (shown.version < this.version) return;
    this.#shown = shown;
    if (this.isGone) return;
    for (const address of this.#inUse) if (!isOffered(shown, address)) this.lost.add(address);
  }

  /** Takes and releases addresses. Returns the patch that the CiliumNode needs then; undefined without a difference. */
  nextPatch(): Patch | undefined {
    if (this.#shown === undefined || this.isGone) return undefined;
    this.#free();
    return this.facts.protocol === 'crd-allocator' ? this.#sayUsed(this.#shown) : this.#sayHeld(this.#shown);
  }

  #free(): void {
    for (const address of [...this.#inUse].slice(this.#wanted)) this.#inUse.delete(address);
  }

  #take(shown: Shown, mayTake: (address: string) => boolean): void {
    for (const address of shown.pool.keys()) {
      if (this.#inUse.size >= this.#wanted) return;
      if (isOffered(shown, address) && mayTake(address)) this.#inUse.add(address);
    }
  }

  #sayUsed(shown: Shown): Patch | undefined {
    this.#take(shown, (address) => !shown.states.has(address));
    const entries = [...this.#inUse].map((address) => [
      address,
      { owner: `default/${address}`, resource: shown.pool.get(address) ?? '' },
    ]);
    const used = difference(shown.used, Object.fromEntries(entries) as JsonObject);
    const states = [...shown.states].flatMap(([address, state]) => this.#answer(shown, address, state));
    if (used === undefined && states.length === 0) return undefined;
    const ipam: JsonObject = {
      ...(used && { used }),
      ...(states.length > 0 && { 'release-ips': Object.fromEntries(states) as JsonObject }),
    };
    return { part: '/status', body: { status: { ipam } } };
  }

  #answer(shown: Shown, address: string, state: string): readonly (readonly [string, string | null])[] {
    if (state === 'released') return shown.pool.has(address) ? [] : [[address, null]];
    if (state !== 'marked-for-release') return [];
    return [[address, this.#inUse.has(address) ? 'do-not-release' : 'ready-for-release']];
  }

  /** Uses only what it has reported as held. */
  #sayHeld(shown: Shown): Patch | undefined {
    this.#take(shown, (address) => this.#held.has(address) && shown.allocated.has(address));
    const held = new Set(this.#inUse);
    const others = [...shown.pool.keys()].filter((address) => isOffered(shown, address));
    for (const address of [...this.#held, ...others]) {
      if (held.size < this.demand && isOffered(shown, address)) held.add(address);
    }
    this.#held = held;
    const isSame = held.size === shown.allocated.size && [...held].every((each) => shown.allocated.has(each));
    if (isSame && shown.requested === this.demand) return undefined;
    const pools = {
      requested: [{ pool: 'default', needed: { 'ipv4-addrs': this.demand } }],
      allocated: [{ pool: 'default', cidrs: [...held].map((address) => `${address}/32`).sort() }],
    };
    return { part: '', body: { spec: { ipam: { pools } } } };
  }
}

function isOffered({ pool, interfaces }: Shown, address: string): boolean {
  return interfaces.get(pool.get(address) ?? '')?.has(address) ?? false;
}

function shownBy(object: JsonObject): Shown {
  const pool = Object.entries(objectAt(object, 'spec', 'ipam', 'pool'));
  const pools = objectAt(object, 'spec', 'ipam', 'pools');
  const cidrs = listAt(pools, 'allocated').flatMap((entry) => textsAt(entry, 'cidrs'));
  const [request] = listAt(pools, 'requested').filter(isObject);
  return {
    version: Number(textAt(object, 'metadata', 'resourceVersion')),
    pool: new Map(pool.map(([address, entry]) => [address, textAt(entry, 'resource')])),
    interfaces: new Map(
      aws.interfacesOf(object, 'crd-allocator').map(({ id, addresses }) => [id, new Set(addresses)]),
    ),
    states: textMapAt(object, 'status', 'ipam', 'release-ips'),
    used: objectAt(object, 'status', 'ipam', 'used'),
    allocated: new Set(cidrs.map((cidr) => cidr.slice(0, cidr.indexOf('/')))),
    requested: numberAt(request, 'needed', 'ipv4-addrs'),
    error: textAt(object, 'status', 'ipam', 'operator-status', 'error'),
  };
}

/** A merge patch by keys; undefined without a difference. */
function difference(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const gone = Object.keys(before).filter((key) => after[key] === undefined);
  const come = Object.entries(after).filter(([key]) => before[key] === undefined);
  if (gone.length + come.length === 0) return undefined;
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...Object.fromEntries(come) };
}
