// Decides which nodes Headwater serves: one reconciler for each CiliumNode that can be served, for as long as it is the
// same node. Decides which node gets an instance or an address, and wakes nodes when something that they depend on
// changes:
//
// - their CiliumNode (`apply`), or the Nodes that verify it (`identitiesChanged`)
// - pods that wait on them (`pendingPodsChanged`)
// - what the leader learns of the cloud: their instance, subnets, limits, orphaned interfaces (`cloudChanged`)
// - space in a subnet that another node gave back (`#space`)
// - an address that another node showed and that is free now (`onFreed`), or that several claim (`#contest`)
// - what may start at all: a pause or its end (`wakeAll`)
import type { CiliumNode, NodeReference } from '../kubernetes/cilium-node/cilium-node.ts';
import { shownBy } from '../kubernetes/cilium-node/shown-addresses.ts';
import { nameOf, referenceTo, type WatchedNode } from '../kubernetes/cilium-node/cilium-node-reader.ts';
import type { Claimed } from '../node/demand/address-claims.ts';
import { type NodeCondition, presentable } from '../node/conditions/node-condition.ts';
import { NodeReconciler } from '../node/reconcile/node-reconciler.ts';
import type { NodeContext } from '../node/reconcile/node-context.ts';
import type { NodeEvent } from '../node/reconcile/node-event.ts';
import { isOfOtherInstance, keepSpellings, restoredState } from '../node/publish/restored-state.ts';
import { NetworkEvidence } from './network-evidence.ts';
import { AddressContests } from './address-contests.ts';
import { TaskGroup } from '../runtime/task-group.ts';
import { sleep } from '../runtime/clock.ts';
import { Trigger } from '../runtime/trigger.ts';
import { AddressIndex } from './claims/address-index.ts';
import type { Fleet } from './fleet.ts';
import { evidenceOf } from './claims/holder-evidence.ts';
import { checkClaim } from './claims/instance-claim.ts';
import { InstanceOwnership, type InstanceOwnershipOptions } from './claims/instance-ownership.ts';
import type { NodeIdentities, TouchedIdentities } from './claims/node-identities.ts';
import type { ClaimEvidence } from './claims/rival-claims.ts';
import {
  claimedBy,
  emptyEntry,
  isSame,
  type NodeEntry,
  type Served,
  servedAlone,
  setCondition,
} from './node-entry.ts';
import type { CloudEvent, CloudListener, ReportedEvent } from './serving-event.ts';

export interface NodeManagerOptions {
  /** The word of Nodes on who owns which instance. */
  readonly identities: InstanceOwnershipOptions['identities'] &
    Pick<NodeIdentities, 'admittedPods' | 'isIgnored'>;
  /** Whether an instance is served only if a Node names it. */
  readonly requireNode: boolean;
  readonly context: Omit<NodeContext, 'fleet' | 'emit'>;
  readonly fleet: Fleet;
  readonly listener: NodeListener;
}

/** Learns what happened to nodes. Returns at once and does not throw. */
export interface NodeListener {
  nodeChanged(event: ReportedEvent): void;
}

/** Number of nodes woken before other work can run, since each of them decides and publishes. */
const wakenAtOnce = 5;
/** Number of nodes taken over at the start before other work can run. */
const seenAtOnce = 20;
/** Minimum delay between scans for nodes that lacked subnet space, in ms: each scans the whole fleet. */
const spaceInterval = 100;

export class NodeManager implements CloudListener {
  readonly #options: NodeManagerOptions;
  readonly #context: NodeContext;
  /** The entry of each node. Only the manager changes it. */
  readonly fleet: Fleet;
  readonly #index: AddressIndex;
  readonly #ownership: InstanceOwnership;
  readonly #contests: AddressContests;
  readonly #networks: NetworkEvidence;
  readonly #work: TaskGroup;
  /** Addresses returned to a subnet: wakes the nodes that wait for some, soon and in one batch. */
  readonly #space: Trigger;
  /** Names that existed at the start and wait for their turn to be served; `all` until every name is known. */
  #awaitingTurn: Set<string> | 'all' = 'all';

  constructor(options: NodeManagerOptions) {
    this.#options = options;
    this.#work = new TaskGroup(options.context.runtime);
    this.#space = new Trigger({
      ...options.context.runtime,
      minInterval: spaceInterval,
      isPressing: () => true,
      run: () => {
        this.#wake(this.fleet.concernedBy({ kind: 'spaceFreed' }));
        return Promise.resolve();
      },
    });
    const { cloud, runtime, settings } = options.context;
    const { consistencyWindow } = settings.timing;
    const { networkId, podNetworkId } = settings.assessment;
    const { inventory } = cloud;
    const { identities, fleet } = options;
    const ownership = new InstanceOwnership({ identities, inventory, networkId });
    this.fleet = fleet;
    this.#ownership = ownership;
    this.#networks = new NetworkEvidence(cloud, ownership, networkId);
    this.#contests = new AddressContests(fleet, inventory, runtime.clock);
    const rivals = {
      evidence: (holder: string, address: string) => this.#evidence(holder, address),
      now: () => runtime.clock.monotonic(),
      maxWait: consistencyWindow,
      onWait: (name: string, ms: number) => this.#work.later(ms, () => this.#wake([name])),
    };
    this.#index = new AddressIndex((names) => this.#wake([...names]), rivals, podNetworkId !== undefined);
    this.#context = {
      ...options.context,
      fleet: { claims: this.#index, identities: ownership, kubelets: identities },
      emit: (event) => this.#happened(event),
    };
  }

  /** Acts on events that concern other nodes. */
  #happened(event: NodeEvent): void {
    switch (event.kind) {
      case 'contested':
        return this.#contest(event.instanceId, event.claimed);
      case 'instancesChanged':
        return this.#instancesChanged(event.instanceIds);
      case 'spaceFreed':
        return this.#space.fire();
      default:
        this.#options.listener.nodeChanged(event);
    }
  }

  /**
   * Takes over all CiliumNodes that exist at the start, a few at a time. Resolves once all of them that can be served are
   * served. `apply` may be called meanwhile. Rejects only with the reason of `signal`.
   */
  async takeOverNodes(nodes: Iterable<WatchedNode>, signal: AbortSignal): Promise<void> {
    // All offered addresses must be known before any node claims one.
    await this.#each([...nodes], signal, (watched) => {
      // The CiliumNode may have changed or been deleted since.
      if (this.fleet.find(nameOf(watched)) === undefined) this.#remember(nameOf(watched), watched);
    });
    const known = Array.from(this.fleet.all(), ([, entry]) => entry);
    keepSpellings(known, this.#context.cloud.implementation.section, this.#ownership);
    const names = this.fleet.namesInStartOrder();
    const awaitingTurn = new Set(names);
    this.#awaitingTurn = awaitingTurn;
    await this.#each(names, signal, (name) => {
      awaitingTurn.delete(name);
      this.#serveOrStopAlone(name);
    });
  }

  /** A bug in one node must not stop others from being served. */
  #serveOrStopAlone(name: string): void {
    const entry = this.fleet.find(name);
    if (entry === undefined) return;
    try {
      this.#serveOrStop(name, entry);
    } catch (error) {
      this.#context.runtime.onBug(error);
    }
  }

  /** Applies the newest state of a CiliumNode; undefined once it is deleted. */
  apply(name: string, watched: WatchedNode | undefined): void {
    if (this.#work.isClosing) return;
    const entry = this.#remember(name, watched);
    if (!this.#waitsItsTurn(name)) this.#serveOrStop(name, entry);
  }

  #waitsItsTurn(name: string): boolean {
    return this.#awaitingTurn === 'all' || this.#awaitingTurn.has(name);
  }

  #remember(name: string, watched: WatchedNode | undefined): NodeEntry {
    const entry = this.fleet.entryOf(name);
    entry.newest = watched;
    this.#indexOffered(name, entry);
    return entry;
  }

  /** Takes in what its Node says. A CiliumNode that no Node verifies may show anything: only addresses from us count. */
  #indexOffered(name: string, entry: NodeEntry): void {
    entry.isIgnored = this.#options.identities.isIgnored(name);
    const { newest: watched } = entry;
    if (watched === undefined) return this.#index.remove(name);
    const { networkId, addresses } = shownBy(watched);
    const instanceId = claimedBy(entry);
    const isFromBefore =
      watched.kind === 'node' && this.#context.writer.others.mayBePreviousLeaders(watched.node);
    const isPossible = instanceId !== undefined && this.#ownership.isPossible(name, instanceId);
    const countsWhole = isPossible && (isFromBefore || this.mayBelongTo(name, instanceId));
    const granted = isPossible ? this.#index.grantedOf(name, addresses) : [];
    this.#index.setOffered(name, networkId, countsWhole ? addresses : granted);
    if (isPossible && isFromBefore) this.#index.grantOffered(name);
  }

  /** Whether the instance belongs to the Node of that name, as far as Nodes are known. */
  mayBelongTo(name: string, instanceId: string): boolean {
    return !this.#ownership.isKnown || this.#ownership.isVerified(name, instanceId);
  }

  /** Node identities changed: updates which node is served for an instance, and which addresses count as offered. */
  identitiesChanged({ names, instanceIds, addresses }: TouchedIdentities): void {
    const mustSeek = this.#ownership.mustSeek;
    const moved = this.#ownership.addressesChanged(addresses);
    this.#ownersChanged(new Set([...instanceIds, ...moved]), names);
    // Once for all Nodes of a list.
    if (!mustSeek && this.#ownership.mustSeek)
      this.#work.later(0, () => this.#ownersChanged(this.#ownership.seek(this.fleet.instanceIds())));
  }

  #ownersChanged(instanceIds: ReadonlySet<string>, names: ReadonlySet<string> = new Set()): void {
    if (this.#work.isClosing || instanceIds.size + names.size === 0) return;
    for (const [name, entry] of this.fleet.all()) {
      const claimed = claimedBy(entry);
      const isTouched = names.has(name) || (claimed !== undefined && instanceIds.has(claimed));
      if (isTouched) this.#ownerChanged(name, entry);
    }
  }

  #ownerChanged(name: string, entry: NodeEntry): void {
    this.#indexOffered(name, entry);
    if (this.#waitsItsTurn(name)) return;
    const { reconciler, last } = entry;
    if (reconciler !== undefined && last !== undefined)
      this.#networks.restore(entry, last, reconciler.instanceId);
    this.#serveOrStopAlone(name);
    entry.reconciler?.wake();
  }

  pendingPodsChanged(name: string): void {
    const reconciler = this.fleet.reconcilerOf(name);
    if (reconciler !== undefined) reconciler.pendingPods = this.fleet.pendingPods(name);
  }

  cloudChanged(event: CloudEvent): void {
    if (event.kind === 'instancesChanged') this.#instancesChanged(event.instanceIds);
    else this.#wake(this.fleet.concernedBy(event));
  }

  #instancesChanged(instanceIds: ReadonlySet<string>): void {
    this.#ownersChanged(this.#ownership.instancesChanged(instanceIds));
    this.#wakeServed(instanceIds);
  }

  #wakeServed(instanceIds: ReadonlySet<string>): void {
    const owners = [...instanceIds].flatMap((instanceId) => this.fleet.ownerOf(instanceId) ?? []);
    this.#wake(owners);
    for (const name of owners) {
      const reconciler = this.fleet.reconcilerOf(name);
      if (reconciler !== undefined) this.#networks.report(reconciler);
      this.#index.holderChanged(name);
    }
  }

  wakeAll(): void {
    this.#wake(Array.from(this.fleet.all(), ([name]) => name));
  }

  /** Starts no new work. Resolves once work in flight has ended, or after `deadline`. */
  async stop(deadline: AbortSignal): Promise<void> {
    for (const [, { reconciler, isEnding }] of this.fleet.all())
      if (reconciler !== undefined && !isEnding)
        this.#work.beginTask(() => reconciler.stop(this.#work.deadline));
    await Promise.all([this.#work.stop(deadline), this.#space.stop()]);
  }

  /** Aligns the reconciler of a name with the newest state of its object. */
  #serveOrStop(name: string, entry: NodeEntry): void {
    if (entry.isEnding || this.#work.isClosing) return;
    const served = this.#served(entry);
    const { reconciler } = entry;
    if (reconciler !== undefined) {
      if (served.kind === 'node' && isSame(reconciler, served.node, served.instanceId)) {
        this.#reportWarnings(served.node);
        this.#networks.report(reconciler);
        entry.last = served.node;
        reconciler.update(served.node);
      } else {
        entry.isEnding = true;
        this.#work.beginTask(() => this.#end(name, entry, reconciler));
      }
      return;
    }
    if (served.kind === 'node') this.#start(entry, served.node, served.instanceId);
    else if (served.kind === 'blocked') this.#blocked(entry, referenceTo(served.watched), served.condition);
    else if (entry.newest === undefined) {
      this.fleet.forget(name);
      this.#options.listener.nodeChanged({ kind: 'removed', name });
    } else this.#blocked(entry, referenceTo(entry.newest), undefined);
  }

  #served(entry: NodeEntry): Served {
    const served = servedAlone(entry);
    return served.kind === 'claim' ? this.#claimed(served.watched, served.node, served.instanceId) : served;
  }

  /** Whether this CiliumNode is the one to serve for the instance that it names. */
  #claimed(watched: WatchedNode, node: CiliumNode, instanceId: string): Served {
    const isClaimedBy = (other: string): boolean => this.fleet.claims(other, instanceId);
    const verdict = checkClaim({
      name: node.name,
      instanceId,
      ownInstance: this.#ownership.instanceOf(node.name, instanceId),
      nodes: this.#ownership.nodesOf(instanceId, isClaimedBy),
      served: this.fleet.ownerOf(instanceId),
      isClaimedBy,
      requireNode: this.#options.requireNode,
    });
    if (verdict.kind === 'blocked') return { kind: 'blocked', watched, condition: verdict.condition };
    if (verdict.kind === 'granted') return { kind: 'node', node, instanceId };
    // The CiliumNode is served once the other one has stopped.
    this.#serveOrStopAlone(verdict.for);
    return { kind: 'none' };
  }

  #start(entry: NodeEntry, node: CiliumNode, instanceId: string): void {
    const { section } = this.#context.cloud.implementation;
    const restored = restoredState(node, instanceId, section);
    const isOfAnother = entry.last !== undefined && isOfOtherInstance(node, entry.last, section);
    this.#networks.restore(entry, node, instanceId, restored);
    this.#blocked(entry, node, undefined);
    this.#reportWarnings(node);
    this.fleet.setOwner(instanceId, node.name);
    entry.last = node;
    entry.reconciler = new NodeReconciler(
      node,
      instanceId,
      this.#context,
      isOfAnother ? undefined : restored.interfaces,
    );
    entry.reconciler.pendingPods = this.fleet.pendingPods(node.name);
  }

  async #end(name: string, entry: NodeEntry, reconciler: NodeReconciler): Promise<void> {
    await reconciler.stop(this.#work.deadline);
    this.#options.listener.nodeChanged({ kind: 'removed', name });
    entry.reconciler = undefined;
    entry.isNetworkRestored = false;
    entry.isEnding = false;
    this.fleet.setOwner(reconciler.instanceId, undefined);
    this.#ownersChanged(this.#ownership.instancesChanged([reconciler.instanceId]));
    this.#serveOrStop(name, entry);
    // Another name may have waited for the instance.
    for (const [other, { newest, reconciler: busy }] of this.fleet.all()) {
      if (busy === undefined && newest?.kind === 'node' && newest.node.instanceId === reconciler.instanceId)
        this.apply(other, newest);
    }
  }

  #blocked(entry: NodeEntry, node: NodeReference, found: NodeCondition | undefined): void {
    const condition = found && presentable(found);
    if (!setCondition(entry, node, condition, this.#context.runtime.clock.monotonic())) return;
    this.#options.listener.nodeChanged({ kind: 'blocked', node, condition });
  }

  #reportWarnings(node: CiliumNode): void {
    if (node.warnings.length > 0) this.#options.listener.nodeChanged({ kind: 'malformed', node });
  }

  /** Wakes nodes in small batches, so that their decisions do not starve other work. */
  #wake(names: readonly string[]): void {
    for (const name of names.slice(0, wakenAtOnce)) this.fleet.reconcilerOf(name)?.wake();
    const left = names.slice(wakenAtOnce);
    if (left.length > 0) this.#work.later(0, () => this.#wake(left));
  }

  /** Processes the items and lets other work run in between. */
  async #each<T>(items: readonly T[], signal: AbortSignal, act: (item: T) => void): Promise<void> {
    for (const [index, item] of items.entries()) {
      if (index % seenAtOnce === seenAtOnce - 1) await sleep(this.#context.runtime.clock, 0, signal);
      act(item);
    }
  }

  /** Several instances claim an address: requests reads by id of all of them, which decide. */
  #contest(instanceId: string, claimed: Claimed): void {
    if (claimed.unasked.size > 0) {
      const { consistencyWindow } = this.#context.settings.timing;
      this.#work.later(consistencyWindow, () => this.#wakeServed(new Set([instanceId])));
    }
    this.#contests.open(instanceId, claimed);
    this.#wakeServed(new Set([instanceId]));
  }

  /** The evidence that supports a node showing an address. */
  #evidence(name: string, address: string): ClaimEvidence {
    const entry = this.fleet.find(name) ?? emptyEntry();
    const { reconciler } = entry;
    const instanceId = reconciler?.instanceId ?? claimedBy(entry) ?? '';
    return evidenceOf(address, {
      isToBeServed: this.#waitsItsTurn(name) && claimedBy(entry) !== undefined,
      view: reconciler && this.#context.cloud.inventory.view(instanceId),
      isVerified: this.mayBelongTo(name, instanceId),
      isNamed: this.#ownership.isVerified(name, instanceId),
      isReadRefused: this.#context.cloud.instances.failures.isReadRefused(instanceId),
      removal: (this.#ownership.isPossible(name, instanceId) && reconciler?.removal) || 'none',
    });
  }
}
