// Which node offers which address, over the whole fleet and whether or not Headwater serves the node: what is shown in
// CiliumNodes, and what nodes have claimed and are about to show. It is what keeps an address from being offered twice.
import { oneCopy } from '../memory/one-copy.ts';
import type { AddressClaims, Claimed } from '../node/address-claims.ts';

interface Entry {
  readonly networkId: string;
  /** Shown by the CiliumNode. */
  offered: ReadonlySet<string>;
  /** About to be shown. */
  claimed: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();
const nobody: readonly string[] = [];
/** Of nearly all nodes: one for all of them. */
const uncontested: Claimed = { withheld: new Map(), shared: new Map() };

export class AddressIndex implements AddressClaims {
  readonly #entries = new Map<string, Entry>();
  /** Names by address, within each network. Almost always one name. */
  readonly #holders = new Map<string, Map<string, string | Set<string>>>();
  /** Nodes that wait for a holder to let go, by the holder. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #onFreed: (names: ReadonlySet<string>) => void;

  /** `onFreed` is told the nodes that waited for a holder which has let go of something. */
  constructor(onFreed: (names: ReadonlySet<string>) => void) {
    this.#onFreed = onFreed;
  }

  /** The CiliumNode `name` now shows exactly these addresses. */
  setOffered(name: string, networkId: string, addresses: Iterable<string>): void {
    const known = this.#entries.get(name);
    const claimed = known?.networkId === networkId ? known.claimed : none;
    const shown = new Set(addresses);
    // Almost every event of a watch is about something else.
    if (known?.networkId === networkId && isEqual(known.offered, shown)) return;
    // In the end a node shows what it claimed: one set is enough for both.
    const offered = isEqual(claimed, shown) ? claimed : new Set(Array.from(shown, oneCopy));
    this.#replace(name, { networkId, offered, claimed });
  }

  /** The CiliumNode is gone. */
  remove(name: string): void {
    this.#replace(name, undefined);
  }

  claim(wanted: {
    readonly name: string;
    readonly networkId: string;
    readonly addresses: Iterable<string>;
  }): Claimed {
    const { name, networkId } = wanted;
    const offered = this.#offered(name, networkId);
    const withheld = new Map<string, readonly string[]>();
    const shared = new Map<string, readonly string[]>();
    const claimed = new Set<string>();
    for (const address of wanted.addresses) {
      const others = this.#othersThan(name, networkId, address);
      const isNew = others.length > 0 && !offered.has(address);
      if (others.length > 0) (isNew ? withheld : shared).set(address, others);
      if (!isNew) claimed.add(address);
    }
    for (const holder of [...withheld.values(), ...shared.values()].flat()) this.#await(holder, name);
    this.#replace(name, { networkId, offered, claimed: isEqual(offered, claimed) ? offered : claimed });
    return withheld.size + shared.size === 0 ? uncontested : { withheld, shared };
  }

  #offered(name: string, networkId: string): ReadonlySet<string> {
    const known = this.#entries.get(name);
    return known?.networkId === networkId ? known.offered : none;
  }

  #othersThan(name: string, networkId: string, address: string): readonly string[] {
    const held = this.#holders.get(networkId)?.get(address);
    if (held === undefined || held === name) return nobody;
    return typeof held === 'string' ? [held] : [...held].filter((other) => other !== name).sort();
  }

  #await(holder: string, name: string): void {
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
    if (freed) this.#tellWaiting(name);
  }

  /** Whether there was anything to drop. */
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
      return;
    }
    held.delete(name);
    const [last, ...more] = held;
    if (last !== undefined && more.length === 0) network.set(address, last);
  }

  #tellWaiting(holder: string): void {
    const waiting = this.#waiting.get(holder);
    if (waiting === undefined) return;
    this.#waiting.delete(holder);
    this.#onFreed(waiting);
  }
}

/** Addresses of an entry that another one lacks. Those that are offered and claimed may come twice. */
function notHeldBy(other: Entry | undefined, { offered, claimed }: Entry): readonly string[] {
  // Mostly the two are one and the same.
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
