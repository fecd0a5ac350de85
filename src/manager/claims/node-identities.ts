// Tracks which Node names which instance, has which addresses and asks to be ignored, according to the cluster's Nodes: the only source that
// agents cannot write. Decides nothing.

/** The identity of a Node, by its own word. */
export interface NodeIdentity {
  /** Undefined while it names no instance. */
  readonly instanceId: string | undefined;
  /** The internal addresses of the Node. */
  readonly addresses: readonly string[];
  /** Creation time; all Nodes use the same clock. */
  readonly createdAt: number;
  /** Pods that the kubelet of the Node admits. */
  readonly admittedPods?: number | undefined;
  /** True if the Node asks to ignore the CiliumNode of the same name. */
  readonly isIgnored?: true;
}

/** The names and instances that a change of Nodes affects. */
export interface TouchedIdentities {
  readonly names: ReadonlySet<string>;
  readonly instanceIds: ReadonlySet<string>;
  readonly addresses: ReadonlySet<string>;
}

const none: readonly string[] = [];
/** A Node that is gone, or not known yet. */
const unknown = { instanceId: undefined, addresses: none };

export class NodeIdentities {
  readonly #isOutside: (name: string) => boolean;
  readonly #identities = new Map<string, NodeIdentity>();
  /** Names by instance, oldest Node first. Almost always one. */
  readonly #names = new Map<string, readonly string[]>();
  /** Names by address. Almost always one. */
  readonly #byAddress = new Map<string, readonly string[]>();
  readonly #namingNone = new Set<string>();
  readonly #ignored = new Set<string>();

  /** `isOutside`: whether the node of that name is left to another release. Default: none is. */
  constructor(isOutside: (name: string) => boolean = () => false) {
    this.#isOutside = isOutside;
  }

  /** Whether any Node is known. */
  get isKnown(): boolean {
    return this.#identities.size > 0;
  }

  /** Whether a Node of that name exists. */
  has(name: string): boolean {
    return this.#identities.has(name);
  }

  /** The instance named by the Node of that name; undefined without such a Node, or if it names none. */
  instanceOf(name: string): string | undefined {
    return this.#identities.get(name)?.instanceId;
  }

  /** Pods that the kubelet of the Node admits; undefined before it says so. */
  admittedPods(name: string): number | undefined {
    return this.#identities.get(name)?.admittedPods;
  }

  /** Nodes that name the instance, oldest first. */
  nodesOf(instanceId: string): readonly string[] {
    return this.#names.get(instanceId) ?? none;
  }

  /** Whether some Node names no instance. */
  get someNameNone(): boolean {
    return this.#namingNone.size > 0;
  }

  /** Nodes that have the address, in any order. */
  withAddress(address: string): readonly string[] {
    return this.#byAddress.get(address) ?? none;
  }

  /** Whether the Node of that name asked last that its CiliumNode is ignored, or it is left to another release. */
  isIgnored(name: string): boolean {
    return this.#ignored.has(name) || this.#isOutside(name);
  }

  /** Applies the current state of a Node; undefined once it is deleted. */
  set(name: string, identity: NodeIdentity | undefined): TouchedIdentities {
    const before = this.#identities.get(name) ?? unknown;
    const now = identity ?? unknown;
    this.#store(name, identity);
    this.#nameInstance(name, before.instanceId, now.instanceId);
    const addresses = new Set([...before.addresses, ...now.addresses]);
    for (const address of addresses) this.#nameAddress(name, address);
    const instanceIds = [before.instanceId, now.instanceId].filter((id) => id !== undefined);
    return { names: new Set([name]), instanceIds: new Set(instanceIds), addresses };
  }

  /**
   * Replaces everything known with the current state of all Nodes. None are known while they cannot be read: those that asked to
   * be ignored are, until they are read again.
   */
  replace(identities: ReadonlyMap<string, NodeIdentity>): TouchedIdentities {
    const names = new Set([...this.#identities.keys(), ...identities.keys()]);
    const instanceIds = new Set(this.#names.keys());
    const addresses = new Set(this.#byAddress.keys());
    for (const each of [this.#identities, this.#names, this.#byAddress, this.#namingNone]) each.clear();
    if (identities.size > 0) this.#ignored.clear();
    for (const [name, identity] of identities) {
      const touched = this.set(name, identity);
      for (const id of touched.instanceIds) instanceIds.add(id);
      for (const address of touched.addresses) addresses.add(address);
    }
    return { names, instanceIds, addresses };
  }

  #store(name: string, identity: NodeIdentity | undefined): void {
    if (identity === undefined) this.#identities.delete(name);
    else this.#identities.set(name, identity);
    if (identity?.isIgnored === true) this.#ignored.add(name);
    else this.#ignored.delete(name);
    if (identity !== undefined && identity.instanceId === undefined) this.#namingNone.add(name);
    else this.#namingNone.delete(name);
  }

  #nameInstance(name: string, before: string | undefined, now: string | undefined): void {
    const others = (id: string): readonly string[] => this.nodesOf(id).filter((each) => each !== name);
    if (before !== undefined) this.#rank(before, others(before));
    if (now !== undefined) this.#rank(now, [...others(now), name]);
  }

  #nameAddress(name: string, address: string): void {
    const others = this.withAddress(address).filter((each) => each !== name);
    const has = this.#identities.get(name)?.addresses.includes(address) === true;
    const names = has ? [...others, name] : others;
    if (names.length === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, names);
  }

  #rank(instanceId: string, names: readonly string[]): void {
    if (names.length === 0) {
      this.#names.delete(instanceId);
      return;
    }
    const age = (name: string): number => this.#identities.get(name)?.createdAt ?? Infinity;
    const byAge = names.toSorted((a, b) => age(a) - age(b) || (a < b ? -1 : 1));
    this.#names.set(instanceId, byAge);
  }
}
