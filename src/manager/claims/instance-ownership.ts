// Decides which Node an instance belongs to. Agents cannot write Nodes, and two facts tie a Node to an instance: the
// provider ID of the Node, or, for a Node that names no instance, one of its addresses, if the cloud shows it as the
// primary address of that instance and nowhere else.
//
// An address counts only while one network is certainly the cluster's: other networks have the same addresses, and any
// agent may name an instance in one of them.
import { type InstanceView, networkOf, primaryInterface } from '../../providers/contract/facts.ts';
import {
  allAssignments,
  expandHolding,
  type NetworkInterface,
} from '../../providers/contract/network-interface.ts';
import type { Inventory } from '../../providers/inventory/inventory.ts';
import type { NodeIdentities } from './node-identities.ts';

export interface InstanceOwnershipOptions {
  readonly identities: Pick<
    NodeIdentities,
    'isKnown' | 'has' | 'instanceOf' | 'nodesOf' | 'withAddress' | 'someNameNone'
  >;
  readonly inventory: Pick<Inventory, 'view'>;
  /** The only network that is served; undefined for any. */
  readonly networkId: string | undefined;
}

/** By address of a Node that names no instance, how an instance has it: as its own primary address, or in any other way. */
type Held = ReadonlyMap<string, 'primary' | 'other'>;

const none: readonly string[] = [];
const nothing: Held = new Map();

export class InstanceOwnership {
  readonly #options: InstanceOwnershipOptions;
  /** By address of a Node that names no instance: the instances on which the cloud showed it last. */
  readonly #holders = new Map<string, Set<string>>();
  /** By instance, what it has of these addresses. */
  readonly #held = new Map<string, Held>();
  /** By instance, the Node that its address ties to it. */
  readonly #owners = new Map<string, string>();
  /** Addresses of Nodes that were not looked for yet on the instances known before. */
  readonly #unsought = new Set<string>();
  /** Where the cloud has shown instances that CiliumNodes name. It never shrinks: agents may rewrite all CiliumNodes. */
  readonly #networkIds = new Set<string>();

  constructor(options: InstanceOwnershipOptions) {
    this.#options = options;
  }

  /** Whether any Node is known. */
  get isKnown(): boolean {
    return this.#options.identities.isKnown;
  }

  /** Whether a Node of that name exists. */
  has(name: string): boolean {
    return this.#options.identities.has(name);
  }

  /** Whether the instance belongs to the Node of that name, and to no other. */
  isVerified(name: string, instanceId: string): boolean {
    const names = this.#options.identities.nodesOf(instanceId);
    if (names.length > 0) return names.length === 1 && names[0] === name;
    return this.#owners.get(instanceId) === name;
  }

  /**
   * Whether the instance may belong to the Node of that name, as far as Nodes are known. So may one that nothing ties to
   * any Node, if the Node names none: the cloud may hide it.
   */
  isPossible(name: string, instanceId: string): boolean {
    const { identities } = this.#options;
    if (!identities.isKnown || this.isVerified(name, instanceId)) return true;
    const isTied = identities.nodesOf(instanceId).length > 0 || this.#owners.has(instanceId);
    return !isTied && identities.has(name) && identities.instanceOf(name) === undefined;
  }

  /** The instance that the Node of that name names, or else `claimed` if its address ties it to that one. */
  instanceOf(name: string, claimed: string): string | undefined {
    const named = this.#options.identities.instanceOf(name);
    return named ?? (this.isVerified(name, claimed) ? claimed : undefined);
  }

  /**
   * The Nodes that an instance belongs to, oldest first. One that only its address ties to it counts if `isClaimant`: it
   * decides between CiliumNodes, and keeps none from being served alone.
   */
  nodesOf(instanceId: string, isClaimant: (name: string) => boolean): readonly string[] {
    const names = this.#options.identities.nodesOf(instanceId);
    const owner = this.#owners.get(instanceId);
    if (names.length > 0 || owner === undefined) return names;
    return isClaimant(owner) ? [owner] : none;
  }

  /** Applies what is known of these instances now. Returns the instances that belong to another Node since. */
  instancesChanged(instanceIds: Iterable<string>): ReadonlySet<string> {
    const networks = this.#networkIds.size;
    const affected = new Set<string>();
    for (const id of instanceIds) {
      for (const each of this.#sharingWith(id)) affected.add(each);
      this.#read(id);
      for (const each of this.#sharingWith(id)) affected.add(each);
    }
    return this.#decide(this.#networkIds.size === networks ? affected : [...affected, ...this.#held.keys()]);
  }

  /**
   * The Nodes that have these addresses changed. Returns the instances that belong to another Node since. Addresses that
   * are new count from the next `seek`.
   */
  addressesChanged(addresses: ReadonlySet<string>): ReadonlySet<string> {
    const affected = new Set<string>();
    for (const address of addresses) {
      for (const id of this.#holders.get(address) ?? none) affected.add(id);
      if (!this.#isWanted(address)) this.#drop(address);
      else if (!this.#holders.has(address)) this.#unsought.add(address);
    }
    return this.#decide(affected);
  }

  /** Whether there are addresses to look for. */
  get mustSeek(): boolean {
    return this.#unsought.size > 0;
  }

  /** Looks for new addresses on all instances that are served. Returns the instances that belong to another Node since. */
  seek(instanceIds: Iterable<string>): ReadonlySet<string> {
    this.#unsought.clear();
    return this.instancesChanged(instanceIds);
  }

  /** Whether a Node that names no instance has the address. */
  #isWanted(address: string): boolean {
    const { identities } = this.#options;
    return identities.withAddress(address).some((name) => identities.instanceOf(name) === undefined);
  }

  /** The instances that have an address of this one, and itself. */
  #sharingWith(instanceId: string): readonly string[] {
    const addresses = [...this.#heldBy(instanceId).keys()];
    return [instanceId, ...addresses.flatMap((address) => [...(this.#holders.get(address) ?? none)])];
  }

  #heldBy(instanceId: string): Held {
    return this.#held.get(instanceId) ?? nothing;
  }

  #read(instanceId: string): void {
    const view = this.#options.inventory.view(instanceId);
    if (view?.read !== true) return;
    const networkId = networkOf(view);
    if (networkId !== undefined) this.#networkIds.add(networkId);
    const held = this.#shownOn(view);
    if (held === undefined) return;
    for (const address of this.#heldBy(instanceId).keys())
      if (!held.has(address)) this.#release(address, instanceId);
    for (const address of held.keys())
      this.#holders.set(address, (this.#holders.get(address) ?? new Set()).add(instanceId));
    this.#set(instanceId, held);
  }

  /** Undefined if the cloud does not show the instance whole: then what it showed before still counts. */
  #shownOn(view: InstanceView): Held | undefined {
    const { identities, networkId } = this.#options;
    if (view.presence === 'terminated' || !identities.someNameNone) return nothing;
    const primary = view.presence === 'shown' ? primaryInterface(view) : undefined;
    if (primary === undefined || view.possiblyGone.has(primary.id)) return undefined;
    const isServed = networkId === undefined || primary.networkId === networkId;
    return isServed ? this.#heldIn(view, primary) : nothing;
  }

  #heldIn({ interfaces, unseen }: InstanceView, primary: NetworkInterface): Held {
    const held = new Map<string, 'primary' | 'other'>();
    for (const item of interfaces) {
      for (const address of this.#wantedOf(item, unseen)) {
        const isOwn = item === primary && address === item.primaryAddress && !held.has(address);
        held.set(address, isOwn ? 'primary' : 'other');
      }
    }
    return held;
  }

  /** Without what only a CiliumNode shows. */
  #wantedOf(item: NetworkInterface, unseen: ReadonlySet<string>): readonly string[] {
    if (unseen.has(item.id)) return none;
    const shown = allAssignments(item).filter((holding) => !unseen.has(holding));
    return shown.flatMap(expandHolding).filter((address) => this.#isWanted(address));
  }

  #set(instanceId: string, held: Held): void {
    if (held.size === 0) this.#held.delete(instanceId);
    else this.#held.set(instanceId, held);
  }

  #release(address: string, instanceId: string): void {
    const holders = this.#holders.get(address);
    holders?.delete(instanceId);
    if (holders?.size === 0) this.#holders.delete(address);
  }

  /** No Node that names no instance has the address any more. */
  #drop(address: string): void {
    this.#unsought.delete(address);
    for (const id of this.#holders.get(address) ?? none) {
      this.#set(id, new Map([...this.#heldBy(id)].filter(([each]) => each !== address)));
    }
    this.#holders.delete(address);
  }

  #decide(instanceIds: Iterable<string>): ReadonlySet<string> {
    const changed = new Set<string>();
    for (const id of instanceIds) {
      const owner = this.#ownerOf(id);
      if (this.#owners.get(id) === owner) continue;
      changed.add(id);
      if (owner === undefined) this.#owners.delete(id);
      else this.#owners.set(id, owner);
    }
    return changed;
  }

  /** The Node that names no instance and whose address is the instance's own; undefined unless that is certain. */
  #ownerOf(instanceId: string): string | undefined {
    const { identities } = this.#options;
    const address = [...this.#heldBy(instanceId)].find(([, hold]) => hold === 'primary')?.[0];
    if (address === undefined || this.#unsought.has(address)) return undefined;
    if (!this.#isNetworkCertain || this.#isElsewhere(address, instanceId)) return undefined;
    const [name, ...more] = identities.withAddress(address);
    if (name === undefined || more.length > 0) return undefined;
    return identities.instanceOf(name) === undefined ? name : undefined;
  }

  get #isNetworkCertain(): boolean {
    return this.#options.networkId !== undefined || this.#networkIds.size === 1;
  }

  /** Nothing newer is known of an instance that is not served any longer: one that is served takes its place. */
  #isElsewhere(address: string, instanceId: string): boolean {
    const isServed = (id: string): boolean => this.#options.inventory.view(id) !== undefined;
    const others = [...(this.#holders.get(address) ?? none)].filter((id) => id !== instanceId);
    return others.some((id) => isServed(id) || !isServed(instanceId));
  }
}
