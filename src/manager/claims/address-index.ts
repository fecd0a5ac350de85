// Indexes which node offers which address, across the fleet, including nodes that Headwater does not serve. Covers
// addresses shown in CiliumNodes and addresses claimed by nodes that will show them. Prevents an address from being
// offered twice.
import { intern } from '../../runtime/intern.ts';
import type { AddressClaims, Claimed } from '../../node/demand/address-claims.ts';
import { RivalClaims, type RivalClaimsOptions, type Rivals } from './rival-claims.ts';

interface Entry {
  /** `unknown` until the CiliumNode or a claim names it. */
  readonly networkId: string;
  /** Shown by the CiliumNode. */
  offered: ReadonlySet<string>;
  /** Claimed and about to be shown. */
  claimed: ReadonlySet<string>;
  /** Claimed now, or claimed before and shown since: we or a previous leader gave them to the agent. */
  granted: ReadonlySet<string>;
}

/** Some clouds' agents do not name the network of their node. What it shows then counts in every network. */
const unknown = '';
const none: ReadonlySet<string> = new Set();
const noHolders: readonly string[] = [];
/** Shared by nearly all nodes. */
const uncontested: Claimed = { excluded: new Map(), shared: new Map(), unasked: none };

export class AddressIndex implements AddressClaims {
  readonly #entries = new Map<string, Entry>();
  /** Names by address, within each network. Almost always one name. */
  readonly #holders = new Map<string, Map<string, string | Set<string>>>();
  /** Waiting nodes, by the holder they wait for. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #rivals: RivalClaims;
  readonly #onFreed: (names: ReadonlySet<string>) => void;
  readonly #isOfSeveral: boolean;

  /**
   * `onFreed`: called with the nodes that waited for a holder when that holder has released something. `isOfSeveral`: addresses of
   * one node may be of several networks, which share their addresses then.
   */
  constructor(
    onFreed: (names: ReadonlySet<string>) => void,
    rivals: RivalClaimsOptions,
    isOfSeveral = false,
  ) {
    this.#onFreed = onFreed;
    this.#isOfSeveral = isOfSeveral;
    this.#rivals = new RivalClaims(rivals);
  }

  /** The CiliumNode `name` now shows exactly these addresses. `named`: the network that it names; empty if none. */
  setOffered(name: string, named: string, addresses: Iterable<string>): void {
    const known = this.#entries.get(name);
    const networkId = this.#networkOf(name, named);
    const { claimed, granted } = this.#known(name, networkId);
    const shown = new Set(addresses);
    // Almost every watch event changes something else.
    if (known?.networkId === networkId && isEqual(known.offered, shown)) return;
    // Eventually a node shows exactly what it claimed, so both share one set.
    const offered = isEqual(claimed, shown) ? claimed : new Set(Array.from(shown, intern));
    this.#replace(name, {
      networkId,
      offered,
      claimed,
      granted: stillGranted(granted, { claimed, offered }),
    });
  }

  /** Treats everything the CiliumNode shows now as granted, because a previous leader may have granted it. */
  grantOffered(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    const { offered, granted } = entry;
    entry.granted = granted.size === 0 ? offered : new Set([...offered, ...granted]);
  }

  /** The addresses that we or a previous leader gave to the node. */
  grantedOf(name: string, addresses: readonly string[]): readonly string[] {
    const granted = this.#entries.get(name)?.granted ?? none;
    return addresses.filter((address) => granted.has(address));
  }

  /** The CiliumNode was deleted. */
  remove(name: string): void {
    this.#rivals.forget(name);
    this.#replace(name, undefined);
  }

  claim(wanted: {
    readonly name: string;
    readonly networkId: string;
    readonly addresses: Iterable<string>;
  }): Claimed {
    const { name } = wanted;
    const networkId = this.#networkOf(name, wanted.networkId);
    const addresses = new Set(wanted.addresses);
    const { offered } = this.#known(name, networkId);
    // Almost every claim is repeated.
    if (this.#isRepeated(name, networkId, addresses)) {
      this.#rivals.settle(name, offered);
      return uncontested;
    }
    const excluded = new Map<string, readonly string[]>();
    const shared = new Map<string, readonly string[]>();
    const unasked = new Set<string>();
    const claimed = new Set<string>();
    for (const address of addresses) {
      const rivals = this.#rivalsOf(name, networkId, address);
      const isOffered = offered.has(address);
      if (isOffered && rivals.shown.length > 0) shared.set(address, rivals.shown);
      if (isOffered || !this.#rivals.mustWait(name, address, rivals)) claimed.add(address);
      else {
        excluded.set(address, Object.values(rivals).flat().sort());
        if (rivals.shown.length === 0) unasked.add(address);
      }
    }
    for (const holder of [...excluded.values(), ...shared.values()].flat()) this.#awaitHolder(holder, name);
    this.#rivals.settle(name, offered);
    this.#claim(name, networkId, claimed);
    return excluded.size + shared.size === 0 ? uncontested : { excluded, shared, unasked };
  }

  /** Whether the node claimed just this before, and no other node holds any of it. */
  #isRepeated(name: string, networkId: string, addresses: ReadonlySet<string>): boolean {
    const known = this.#entries.get(name);
    if (known?.networkId !== networkId || !isEqual(known.claimed, addresses)) return false;
    for (const address of addresses) if (this.#othersThan(name, networkId, address).length > 0) return false;
    return true;
  }

  #claim(name: string, networkId: string, addresses: ReadonlySet<string>): void {
    const { offered, granted } = this.#known(name, networkId);
    const claimed = isEqual(offered, addresses) ? offered : addresses;
    const next = { offered, claimed };
    this.#replace(name, { networkId, ...next, granted: stillGranted(granted, next) });
  }

  heldByOthers(shown: {
    readonly name: string;
    readonly networkId: string;
    readonly addresses: Iterable<string>;
  }): ReadonlySet<string> {
    const { name, networkId, addresses } = shown;
    const isHeld = (address: string): boolean => this.#rivalsOf(name, networkId, address).shown.length > 0;
    return new Set([...addresses].filter(isHeld));
  }

  /** The state of the holder's instance changed: nodes waiting for the holder check again. */
  holderChanged(holder: string): void {
    this.#wakeWaiting(holder);
  }

  #rivalsOf(name: string, networkId: string, address: string): Rivals {
    const isGranted = (holder: string): boolean => this.#entries.get(holder)?.granted.has(address) === true;
    return this.#rivals.among(this.#othersThan(name, networkId, address), address, isGranted);
  }

  /** A node that names no network is in the one known before. */
  #networkOf(name: string, named: string): string {
    if (this.#isOfSeveral) return unknown;
    return named === unknown ? (this.#entries.get(name)?.networkId ?? unknown) : named;
  }

  #known(name: string, networkId: string): Omit<Entry, 'networkId'> {
    const known = this.#entries.get(name);
    return known?.networkId === networkId || known?.networkId === unknown ? known : nothingKnown;
  }

  #othersThan(name: string, networkId: string, address: string): readonly string[] {
    const here = this.#othersIn(networkId, name, address);
    const anywhere = networkId === unknown ? noHolders : this.#othersIn(unknown, name, address);
    return anywhere.length === 0 ? here : [...here, ...anywhere].sort();
  }

  #othersIn(networkId: string, name: string, address: string): readonly string[] {
    const held = this.#holders.get(networkId)?.get(address);
    if (held === undefined || held === name) return noHolders;
    return typeof held === 'string' ? [held] : [...held].filter((other) => other !== name).sort();
  }

  #awaitHolder(holder: string, name: string): void {
    const waiting = this.#waiting.get(holder) ?? new Set();
    this.#waiting.set(holder, waiting.add(name));
  }

  #replace(name: string, next: Entry | undefined): void {
    const before = this.#entries.get(name);
    if (next === undefined) this.#entries.delete(name);
    else this.#entries.set(name, next);
    const freed = this.#dropMissing(name, before, next);
    if (next !== undefined) {
      const kept = before?.networkId === next.networkId ? before : undefined;
      for (const address of notHeldBy(kept, next)) this.#add(next.networkId, address, name);
    }
    if (freed) this.#wakeWaiting(name);
  }

  /** Returns whether there was anything to drop. */
  #dropMissing(name: string, before: Entry | undefined, next: Entry | undefined): boolean {
    if (before === undefined) return false;
    const kept = before.networkId === next?.networkId ? next : undefined;
    const missing = notHeldBy(kept, before);
    for (const address of missing) this.#drop(before.networkId, address, name);
    return missing.length > 0;
  }

  #add(networkId: string, address: string, name: string): void {
    const network = this.#holders.get(networkId) ?? new Map<string, string | Set<string>>();
    this.#holders.set(networkId, network);
    const held = network.get(address);
    if (held === undefined) network.set(address, name);
    else if (typeof held !== 'string') held.add(name);
    else if (held !== name) network.set(address, new Set([held, name]));
  }

  #drop(networkId: string, address: string, name: string): void {
    const network = this.#holders.get(networkId);
    const held = network?.get(address);
    if (network === undefined || held === undefined) return;
    if (typeof held === 'string') {
      if (held === name) network.delete(address);
      // Agents name as many networks as they like.
      if (network.size === 0) this.#holders.delete(networkId);
      return;
    }
    held.delete(name);
    const [last, ...more] = held;
    if (last !== undefined && more.length === 0) network.set(address, last);
  }

  #wakeWaiting(holder: string): void {
    const waiting = this.#waiting.get(holder);
    if (waiting === undefined) return;
    this.#waiting.delete(holder);
    this.#onFreed(waiting);
  }
}

const nothingKnown = { offered: none, claimed: none, granted: none };

/** Usually nothing leaves, and one set serves both. */
function stillGranted(
  before: ReadonlySet<string>,
  { claimed, offered }: Pick<Entry, 'claimed' | 'offered'>,
): ReadonlySet<string> {
  const leaving = [...before].filter((address) => !claimed.has(address) && offered.has(address));
  return leaving.length === 0 ? claimed : new Set([...claimed, ...leaving]);
}

/** Addresses of an entry that another one lacks. Addresses both offered and claimed may appear twice. */
function notHeldBy(other: Entry | undefined, { offered, claimed }: Entry): readonly string[] {
  // Usually both are the same set.
  const sets = offered === claimed ? [offered] : [offered, claimed];
  const isMissing = (address: string): boolean =>
    other === undefined || !(other.offered.has(address) || other.claimed.has(address));
  return sets.flatMap((addresses) => [...addresses].filter(isMissing));
}

function isEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const item of a) if (!b.has(item)) return false;
  return true;
}
