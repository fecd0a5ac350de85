// Tracks which Node owns which instance, according to the cluster's Nodes: the only source that agents cannot write.
// Decides nothing.

/** What a Node says about itself. */
export interface NodeIdentity {
  /** Undefined while it names no instance. */
  readonly instanceId: string | undefined;
  /** Creation time; all Nodes use the same clock. */
  readonly createdAt: number;
}

/** What a change of Nodes affects. */
export interface TouchedIdentities {
  readonly names: ReadonlySet<string>;
  readonly instanceIds: ReadonlySet<string>;
}

const none: readonly string[] = [];

export class NodeIdentities {
  readonly #identities = new Map<string, NodeIdentity>();
  /** Names by instance, oldest Node first. Almost always one. */
  readonly #names = new Map<string, readonly string[]>();

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

  /** Nodes that name the instance, oldest first. */
  nodesOf(instanceId: string): readonly string[] {
    return this.#names.get(instanceId) ?? none;
  }

  /** Whether the Node of that name, and no other, names the instance. */
  isVerified(name: string, instanceId: string): boolean {
    const names = this.nodesOf(instanceId);
    return names.length === 1 && names[0] === name;
  }

  /** Applies the current state of a Node; undefined once it is deleted. */
  set(name: string, identity: NodeIdentity | undefined): TouchedIdentities {
    const before = this.#identities.get(name)?.instanceId;
    if (identity === undefined) this.#identities.delete(name);
    else this.#identities.set(name, identity);
    const touched = new Set([before, identity?.instanceId].filter((id) => id !== undefined));
    if (before !== undefined)
      this.#rank(
        before,
        this.nodesOf(before).filter((each) => each !== name),
      );
    if (identity?.instanceId !== undefined) {
      const others = this.nodesOf(identity.instanceId).filter((each) => each !== name);
      this.#rank(identity.instanceId, [...others, name]);
    }
    return { names: new Set([name]), instanceIds: touched };
  }

  /** Replaces everything known with the current state of all Nodes. */
  replace(identities: ReadonlyMap<string, NodeIdentity>): TouchedIdentities {
    const names = new Set([...this.#identities.keys(), ...identities.keys()]);
    const instanceIds = new Set(this.#names.keys());
    this.#identities.clear();
    this.#names.clear();
    for (const [name, identity] of identities)
      for (const id of this.set(name, identity).instanceIds) instanceIds.add(id);
    return { names, instanceIds };
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
