// Which nodes Headwater serves: one managed node for each CiliumNode that can be served, for as long as it is the same
// node. It passes on to each what concerns it, and settles who may have an instance or an address.
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import { shownBy, type WatchedNode } from '../kubernetes/watched-node.ts';
import type { Claimed } from '../node/address-claims.ts';
import { type Diagnosis, duplicateInstance, unreadableNode } from '../node/diagnosis.ts';
import { ManagedNode } from '../node/managed-node.ts';
import type { NodeContext, NodeHooks } from '../node/node-context.ts';
import type { NodeFigures } from '../node/node-figures.ts';
import { recollection, speaksOfAnother } from '../node/recollection.ts';
import type { KnownNetwork } from '../providers/infrastructure.ts';
import { hasAddress } from '../providers/network-interface.ts';
import { rankOf } from '../providers/urgency.ts';
import { BegunWork } from '../scheduling/begun-work.ts';
import { sleep } from '../scheduling/clock.ts';
import { Trigger } from '../scheduling/trigger.ts';
import { AddressIndex } from './address-index.ts';

export interface FleetOptions {
  readonly context: Omit<NodeContext, 'claims' | 'onChanged' | 'hooks'>;
  readonly hooks: Omit<NodeHooks, 'onContested'> & FleetHooks;
  /** Pods that wait for an address on a node. */
  readonly waitingPods: (name: string) => number;
  /** What a CiliumNode says of the network around its instance. */
  readonly onRecalled: (known: KnownNetwork) => void;
  /** A node that may be served is in this network; told with each change of the node. */
  readonly onNetwork: (networkId: string) => void;
}

export interface FleetHooks {
  /** Why a CiliumNode is not served; undefined once there is no reason any more. */
  readonly onSetAside: (node: NodeReference, diagnosis: Diagnosis | undefined) => void;
  /** Entries of a CiliumNode that make no sense and are left out. */
  readonly onWarnings: (node: CiliumNode) => void;
  readonly onRemoved: (name: string) => void;
}

/** What tells a CiliumNode, and the Node that owns it, to people. */
export type NodeReference = Pick<CiliumNode, 'name' | 'uid' | 'nodeUid'>;

/** The place of one name in the fleet. */
interface Seat {
  /** Undefined once the object is gone. */
  newest: WatchedNode | undefined;
  managed: ManagedNode | undefined;
  /** The managed node of before is being ended. */
  isEnding: boolean;
  /** The newest state of the node that was last managed under this name. */
  last: CiliumNode | undefined;
  diagnosis: Diagnosis | undefined;
}

export type SeatFigures =
  | { readonly kind: 'managed'; readonly name: string; readonly figures: NodeFigures }
  | { readonly kind: 'setAside'; readonly name: string; readonly diagnosis: Diagnosis };

/** Of many nodes, so many are woken before others get a turn: each then decides and publishes. */
const wakenAtOnce = 5;
/** And so many are taken over. */
const seenAtOnce = 20;
/** Least time between two looks for nodes whose subnets had run out, in ms: each goes over the whole fleet. */
const spaceInterval = 100;

export class Fleet {
  readonly #options: FleetOptions;
  readonly #context: NodeContext;
  readonly #seats = new Map<string, Seat>();
  /** Which name serves an instance. */
  readonly #owners = new Map<string, string>();
  readonly #index: AddressIndex;
  readonly #work: BegunWork;
  readonly #space: Trigger;
  /** Names that existed when the fleet began and whose turn has not come yet; undefined once all of them are known. */
  #unsettled: Set<string> | 'all' = 'all';

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#work = new BegunWork(options.context);
    this.#space = new Trigger({
      ...options.context,
      minInterval: spaceInterval,
      isPressing: () => true,
      run: () => {
        this.wakeWhere(({ diagnosis }) => diagnosis?.reason === 'SubnetsExhausted');
        return Promise.resolve();
      },
    });
    this.#index = new AddressIndex((names) => this.#wake([...names]));
    this.#context = {
      ...options.context,
      claims: this.#index,
      onChanged: (instanceIds) => this.instancesChanged(instanceIds),
      hooks: {
        ...options.hooks,
        onContested: (instanceId, claimed) => this.#contest(instanceId, claimed),
      },
    };
  }

  /**
   * Takes all CiliumNodes that exist when the fleet begins, a few at a time; resolves once all of them are served that can
   * be. `apply` may be called meanwhile. Rejects only with the reason of `signal`.
   */
  async begin(nodes: Iterable<WatchedNode>, signal: AbortSignal): Promise<void> {
    // Which node offers what must be known of all of them before one of them claims anything.
    await this.#each([...nodes], signal, (watched) => {
      // It may have changed since, or be gone.
      if (!this.#seats.has(nameOf(watched))) this.#take(nameOf(watched), watched);
    });
    // Of two that name the same instance, the one with addresses is more likely to be the living one.
    const rank = ({ newest }: Seat): number =>
      newest !== undefined && shownBy(newest).addresses.length > 0 ? 0 : 1;
    const ranked = [...this.#seats].map(([name, seat]) => ({ name, rank: rank(seat) }));
    const names = ranked.toSorted((a, b) => a.rank - b.rank).map(({ name }) => name);
    const unsettled = new Set(names);
    this.#unsettled = unsettled;
    await this.#each(names, signal, (name) => {
      unsettled.delete(name);
      this.#settleAlone(name);
    });
  }

  /** A bug about one node keeps no other from being served. */
  #settleAlone(name: string): void {
    const seat = this.#seats.get(name);
    if (seat === undefined) return;
    try {
      this.#settle(name, seat);
    } catch (error) {
      this.#context.onBug(error);
    }
  }

  /** Takes the newest state of a CiliumNode; undefined once it is gone. */
  apply(name: string, watched: WatchedNode | undefined): void {
    if (this.#work.isClosing) return;
    const seat = this.#take(name, watched);
    const waitsItsTurn = this.#unsettled === 'all' || this.#unsettled.has(name);
    if (!waitsItsTurn) this.#settle(name, seat);
  }

  #take(name: string, watched: WatchedNode | undefined): Seat {
    const seat = this.#seats.get(name) ?? emptySeat();
    this.#seats.set(name, seat);
    seat.newest = watched;
    if (watched === undefined) this.#index.remove(name);
    else this.#index.setOffered(name, ...shown(watched));
    return seat;
  }

  waitingPodsChanged(name: string): void {
    const managed = this.#seats.get(name)?.managed;
    if (managed !== undefined) managed.waitingPods = this.#options.waitingPods(name);
  }

  instancesChanged(instanceIds: ReadonlySet<string>): void {
    this.#wake([...instanceIds].flatMap((instanceId) => this.#owners.get(instanceId) ?? []));
  }

  /** Wakes the managed nodes whose figures say that it concerns them, the most urgent first: what there is may not do for all. */
  wakeWhere(concerns: (figures: NodeFigures) => boolean): void {
    const concerned = [...this.#seats.values()].flatMap(({ managed }) =>
      managed !== undefined && concerns(managed.figures()) ? [managed] : [],
    );
    const ranked = concerned.map(({ name, urgency }) => ({ name, rank: rankOf(urgency) }));
    this.#wake(ranked.toSorted((a, b) => a.rank - b.rank).map(({ name }) => name));
  }

  /** Addresses went back to a subnet: who waits for some is woken, soon, however many went. */
  spaceFreed(): void {
    this.#space.fire();
  }

  wakeAll(): void {
    this.#wake([...this.#seats.keys()]);
  }

  networkIds(): readonly string[] {
    const only = this.#context.assessmentOptions.networkId;
    if (only !== undefined) return [only];
    const ids = new Set<string>();
    for (const { newest } of this.#seats.values()) {
      const id = newest?.kind === 'node' && !newest.node.ignored ? newest.node.eni?.vpcId : undefined;
      if (id !== undefined) ids.add(id);
    }
    return [...ids].sort();
  }

  *figures(): Generator<SeatFigures> {
    for (const [name, { managed, diagnosis }] of this.#seats) {
      if (managed !== undefined) yield { kind: 'managed', name, figures: managed.figures() };
      else if (diagnosis !== undefined) yield { kind: 'setAside', name, diagnosis };
    }
  }

  /** Begins nothing more; resolves once everything begun has ended, which `deadline` cuts short. */
  async stop(deadline: AbortSignal): Promise<void> {
    for (const { managed, isEnding } of this.#seats.values())
      if (managed !== undefined && !isEnding) this.#work.begin(() => managed.stop(this.#work.deadline));
    await Promise.all([this.#work.stop(deadline), this.#space.stop()]);
  }

  /** Brings what is managed under a name in line with the newest state of its object. */
  #settle(name: string, seat: Seat): void {
    if (seat.isEnding || this.#work.isClosing) return;
    const served = this.#served(name, seat.newest);
    const { managed } = seat;
    if (managed !== undefined) {
      if (served.kind === 'node' && isSame(managed, served.node, served.instanceId)) {
        this.#tellWarnings(served.node);
        this.#tellNetwork(served.node);
        seat.last = served.node;
        managed.update(served.node);
      } else {
        seat.isEnding = true;
        this.#work.begin(() => this.#end(name, seat, managed));
      }
      return;
    }
    if (served.kind === 'node') this.#manage(seat, served.node, served.instanceId);
    else if (served.kind === 'setAside') this.#setAside(seat, referenceTo(served.watched), served.diagnosis);
    else if (seat.newest === undefined) this.#seats.delete(name);
    else this.#setAside(seat, referenceTo(seat.newest), undefined);
  }

  #served(name: string, watched: WatchedNode | undefined): Served {
    if (watched === undefined || isLeft(watched)) return { kind: 'none' };
    const setAside = (diagnosis: Diagnosis): Served => ({ kind: 'setAside', watched, diagnosis });
    if (watched.kind === 'unreadable') {
      return setAside(unreadableNode(watched.problems.map(({ field, problem }) => `${field}: ${problem}`)));
    }
    const { node } = watched;
    if (node.instanceId === undefined) return setAside(unreadableNode(['spec.instance-id is missing']));
    const owner = this.#owners.get(node.instanceId) ?? name;
    if (owner !== name) return setAside(duplicateInstance(node.instanceId, owner));
    return { kind: 'node', node, instanceId: node.instanceId };
  }

  #manage(seat: Seat, node: CiliumNode, instanceId: string): void {
    const { implementation } = this.#context;
    const recalled = recollection(node, instanceId, implementation);
    const isOfAnother = seat.last !== undefined && speaksOfAnother(node, seat.last, implementation);
    this.#options.onRecalled(recalled);
    this.#setAside(seat, node, undefined);
    this.#tellWarnings(node);
    this.#owners.set(instanceId, node.name);
    seat.last = node;
    this.#tellNetwork(node);
    seat.managed = new ManagedNode(
      node,
      instanceId,
      this.#context,
      isOfAnother ? undefined : recalled.interfaces,
    );
    seat.managed.waitingPods = this.#options.waitingPods(node.name);
  }

  async #end(name: string, seat: Seat, managed: ManagedNode): Promise<void> {
    await managed.stop(this.#work.deadline);
    this.#options.hooks.onRemoved(name);
    seat.managed = undefined;
    seat.isEnding = false;
    this.#owners.delete(managed.instanceId);
    this.#settle(name, seat);
    // Another name may have waited for the instance.
    for (const [other, { newest, managed: busy }] of this.#seats) {
      if (busy === undefined && newest?.kind === 'node' && newest.node.instanceId === managed.instanceId) {
        this.apply(other, newest);
      }
    }
  }

  #setAside(seat: Seat, node: NodeReference, diagnosis: Diagnosis | undefined): void {
    if (seat.diagnosis?.text === diagnosis?.text) return;
    seat.diagnosis = diagnosis;
    this.#options.hooks.onSetAside(node, diagnosis);
  }

  #tellNetwork({ eni }: CiliumNode): void {
    const only = this.#context.assessmentOptions.networkId;
    if (eni?.vpcId !== undefined && (only ?? eni.vpcId) === eni.vpcId) this.#options.onNetwork(eni.vpcId);
  }

  #tellWarnings(node: CiliumNode): void {
    if (node.warnings.length > 0) this.#options.hooks.onWarnings(node);
  }

  /** Many nodes are woken few by few, so that their decisions don't keep everything else waiting. */
  #wake(names: readonly string[]): void {
    for (const name of names.slice(0, wakenAtOnce)) this.#seats.get(name)?.managed?.wake();
    const left = names.slice(wakenAtOnce);
    if (left.length > 0) this.#work.later(0, () => this.#wake(left));
  }

  /** Goes through them with turns for others in between. */
  async #each<T>(items: readonly T[], signal: AbortSignal, act: (item: T) => void): Promise<void> {
    for (const [index, item] of items.entries()) {
      if (index % seenAtOnce === seenAtOnce - 1) await sleep(this.#context.clock, 0, signal);
      act(item);
    }
  }

  /** Of two instances that claim an address, the cloud's answer by id decides: both are asked about. */
  #contest(instanceId: string, { withheld, shared }: Claimed): void {
    for (const [address, holders] of withheld) this.#decide(instanceId, address, holders);
    for (const [address, holders] of shared) {
      // A CiliumNode alone is no evidence against what this instance has.
      const claimants = holders.filter((holder) => this.#hasAddress(holder, address));
      if (claimants.length > 0) this.#decide(instanceId, address, claimants);
    }
    this.instancesChanged(new Set([instanceId]));
  }

  #decide(instanceId: string, address: string, holders: readonly string[]): void {
    const { inventory, clock } = this.#context;
    const now = clock.monotonic();
    inventory.contest(instanceId, [address], now);
    for (const holder of holders) {
      const managed = this.#seats.get(holder)?.managed;
      if (managed === undefined) continue;
      inventory.contest(managed.instanceId, [address], now);
      managed.wake();
    }
  }

  #hasAddress(name: string, address: string): boolean {
    const instanceId = this.#seats.get(name)?.managed?.instanceId ?? '';
    const interfaces = this.#context.inventory.view(instanceId)?.interfaces ?? [];
    return interfaces.some((item) => hasAddress(item, address));
  }
}

type Served =
  | { readonly kind: 'node'; readonly node: CiliumNode; readonly instanceId: string }
  | { readonly kind: 'setAside'; readonly watched: WatchedNode; readonly diagnosis: Diagnosis }
  | { readonly kind: 'none' };

function emptySeat(): Seat {
  return {
    newest: undefined,
    managed: undefined,
    isEnding: false,
    last: undefined,
    diagnosis: undefined,
  };
}

/** Its owner wants it left alone, or it is on its way out. */
function isLeft(watched: WatchedNode): boolean {
  return watched.kind === 'node' ? watched.node.ignored || watched.node.deleting : watched.ignored;
}

function isSame(managed: ManagedNode, node: CiliumNode, instanceId: string): boolean {
  return managed.uid === node.uid && managed.instanceId === instanceId;
}

function nameOf(watched: WatchedNode): string {
  return watched.kind === 'node' ? watched.node.name : watched.name;
}

function referenceTo(watched: WatchedNode): NodeReference {
  return watched.kind === 'node'
    ? watched.node
    : { name: watched.name, uid: watched.uid, nodeUid: undefined };
}

function shown(watched: WatchedNode): [networkId: string, addresses: readonly string[]] {
  const { networkId, addresses } = shownBy(watched);
  return [networkId, addresses];
}
