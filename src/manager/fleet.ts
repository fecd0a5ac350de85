// The CiliumNodes by name with all that is known of each, and which of them is served for an instance.
import { shownBy } from '../kubernetes/cilium-node/shown-addresses.ts';
import type { WatchedNode } from '../kubernetes/cilium-node/cilium-node-reader.ts';
import { inDeficit, type NodeFigures, type NodeSummary } from '../node/reconcile/node-summary.ts';
import { lackingSpace } from '../node/conditions/node-condition.ts';
import type { AssessmentOptions } from '../node/conditions/assessment.ts';
import type { NodeReconciler } from '../node/reconcile/node-reconciler.ts';
import { restoredState } from '../node/publish/restored-state.ts';
import { usedAddresses } from '../node/demand/demand.ts';
import type { PendingPods } from '../kubernetes/watch/pending-pods.ts';
import type { CiliumNodeSection } from '../providers/contract/cilium-node-section.ts';
import { networkOf } from '../providers/contract/facts.ts';
import { hasAddress } from '../providers/contract/network-interface.ts';
import { rankOf } from '../providers/contract/priority.ts';
import { inStartOrder } from './claims/instance-claim.ts';
import type { InstanceOwnershipOptions } from './claims/instance-ownership.ts';
import { claimedBy, emptyEntry, type NodeEntry } from './node-entry.ts';
import type { SupplyEvent } from './serving-event.ts';
import type { NodeMember } from './withdrawals/withdrawal-decision.ts';

export interface FleetDeps {
  readonly identities: Pick<InstanceOwnershipOptions['identities'], 'isKnown' | 'has' | 'withAddress'>;
  readonly section: CiliumNodeSection;
  readonly scope: Pick<AssessmentOptions, 'networkId' | 'podNetworkId'>;
  readonly pods: Pick<PendingPods, 'pendingOn'>;
}

export class Fleet {
  readonly #deps: FleetDeps;
  readonly #entries = new Map<string, NodeEntry>();
  /** The name that each instance is served under. */
  readonly #owners = new Map<string, string>();

  constructor(deps: FleetDeps) {
    this.#deps = deps;
  }

  /** The entry of a name, which there is from now on. */
  entryOf(name: string): NodeEntry {
    const entry = this.#entries.get(name) ?? emptyEntry();
    this.#entries.set(name, entry);
    return entry;
  }

  /** Undefined while nothing is known under that name. */
  find(name: string): NodeEntry | undefined {
    return this.#entries.get(name);
  }

  all(): Iterable<readonly [name: string, entry: NodeEntry]> {
    return this.#entries;
  }

  forget(name: string): void {
    this.#entries.delete(name);
  }

  /** The name that the instance is served under. */
  ownerOf(instanceId: string): string | undefined {
    return this.#owners.get(instanceId);
  }

  /** From now on the instance is served under that name; undefined: not at all. */
  setOwner(instanceId: string, name: string | undefined): void {
    if (name === undefined) this.#owners.delete(instanceId);
    else this.#owners.set(instanceId, name);
  }

  /** Undefined while nothing is served under that name. */
  reconcilerOf(name: string): NodeReconciler | undefined {
    return this.#entries.get(name)?.reconciler;
  }

  /** Whether the newest CiliumNode of that name claims the instance. */
  claims(name: string, instanceId: string): boolean {
    return claimedBy(this.#entries.get(name)) === instanceId;
  }

  /** Number of pods waiting for an address on a node. */
  pendingPods(name: string): number {
    return this.#deps.pods.pendingOn(name);
  }

  /** Whether the cloud shows the address on the instance that is served under that name. */
  hasAddress(name: string, address: string): boolean {
    const { interfaces = [] } = this.reconcilerOf(name)?.view ?? {};
    return interfaces.some((item) => hasAddress(item, address));
  }

  /** Names of all CiliumNodes, in the order in which they are taken over. */
  namesInStartOrder(): readonly string[] {
    const claims = Map.groupBy(this.#entries, ([, entry]) => claimedBy(entry));
    const candidates = [...this.#entries].map(([name, entry]) => {
      const { newest } = entry;
      return {
        name,
        hasNodeAddress: (claims.get(claimedBy(entry)) ?? []).length > 1 && this.#hasNodeAddress(newest),
        hasAddresses: newest !== undefined && shownBy(newest).addresses.length > 0,
        createdAt: newest?.kind === 'node' ? newest.node.createdAt : undefined,
      };
    });
    return inStartOrder(candidates).map(({ name }) => name);
  }

  /** Whether the CiliumNode shows an address of the Node of its name as the primary one of an interface. */
  #hasNodeAddress(watched: WatchedNode | undefined): boolean {
    if (watched?.kind !== 'node') return false;
    const { node } = watched;
    const { interfaces } = restoredState(node, node.instanceId ?? '', this.#deps.section);
    const { identities } = this.#deps;
    return interfaces.some(({ primaryAddress }) =>
      identities.withAddress(primaryAddress).includes(node.name),
    );
  }

  /** The served nodes that the event concerns, highest priority first, because supply may not suffice for all. */
  concernedBy(event: SupplyEvent): readonly string[] {
    const concerned = [...this.#entries.values()].flatMap(({ reconciler }) =>
      reconciler !== undefined && isConcerned(reconciler.figures(), event) ? [reconciler] : [],
    );
    const ranked = concerned.map(({ name, priority }) => ({ name, rank: rankOf(priority) }));
    return ranked.toSorted((a, b) => a.rank - b.rank).map(({ name }) => name);
  }

  /** The networks of the instances, and that of the pods if it is another one. */
  networkIds(): readonly string[] {
    const { networkId: only, podNetworkId } = this.#deps.scope;
    const ids = new Set<string>();
    for (const { reconciler, last } of this.#entries.values()) {
      const id =
        reconciler === undefined ? undefined : (networkShownTo(reconciler) ?? last?.section.networkId);
      if (id !== undefined) ids.add(id);
    }
    const ofInstances = only === undefined ? [...ids] : [only];
    if (podNetworkId === undefined || ofInstances.length === 0) return ofInstances.toSorted();
    return [...new Set([...ofInstances, podNetworkId])].toSorted();
  }

  /** The instances that are served. */
  instanceIds(): readonly string[] {
    return [...this.#owners.keys()];
  }

  zones(): readonly string[] {
    return [...this.#entries.values()].flatMap(({ last }) => last?.section.zone ?? []);
  }

  *figures(): Generator<NodeSummary> {
    for (const [name, { reconciler, condition, blockedSince }] of this.#entries) {
      const pendingPods = this.pendingPods(name);
      if (reconciler !== undefined) yield { kind: 'reconciled', name, figures: reconciler.figures() };
      else if (condition !== undefined) yield { kind: 'blocked', name, condition, pendingPods, blockedSince };
    }
  }

  /** The served nodes. */
  members(): readonly NodeMember[] {
    const { identities } = this.#deps;
    return [...this.#entries.values()].flatMap(({ reconciler, last, isEnding }) => {
      if (reconciler === undefined || last === undefined || isEnding) return [];
      return {
        node: last,
        hasNode: identities.isKnown ? identities.has(last.name) : last.nodeUid !== undefined,
        instanceId: reconciler.instanceId,
        networkId: last.section.networkId,
        usesAddresses: usedAddresses(last) > 0,
        presence: reconciler.view?.presence ?? 'unread',
      };
    });
  }
}

/** The network that the cloud shows the instance in. */
export function networkShownTo({ view }: NodeReconciler): string | undefined {
  return view && networkOf(view);
}

function isConcerned(figures: NodeFigures, event: SupplyEvent): boolean {
  const { assessment, condition } = figures;
  switch (event.kind) {
    case 'spaceFreed':
      return condition !== undefined && lackingSpace.has(condition.reason);
    case 'networkRead':
      return event.reshaped || inDeficit(figures);
    case 'supplyChanged':
      return inDeficit(figures);
    case 'limitsRead':
      return assessment.kind !== 'served';
    case 'readEnded':
      return assessment.kind === 'unread';
  }
}
