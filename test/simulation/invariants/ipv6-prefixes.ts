// Judges what controllers do with IPv6 prefixes: a /80 is never unassigned, never hidden while a pod uses an address of it, never
// on two nodes, and a node never gets a second one.
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import type { Change } from '../../../src/simulator/kubernetes/storage/change.ts';
import { textsAt, valueAt, type JsonObject } from '../../../src/simulator/workload/json.ts';
import type { CloudRig } from '../clouds/cloud-rig.ts';
import { type Assignments, covers, heldText, prefixOf } from './assignments.ts';
import { isFake } from './fakes.ts';
import { idOf, unlessDetaching } from './interface-change.ts';
import { enisOf, interfacesWithoutMember } from './others-member.ts';
import type { Invariant } from './violation.ts';

export interface Ipv6PrefixesOptions {
  readonly rig: CloudRig;
  readonly now: () => number;
  /** In ms. */
  readonly consistencyWindow: number;
}

/** What it knows of the cloud, and where it reports. */
export interface Ipv6Surroundings {
  readonly assignments: Assignments;
  report(invariant: Invariant, text: string): void;
}

type Interface = NetworkInterface | undefined;

/** From a change of what a node excludes until every controller knows it, in ms. */
const exclusionHeardWithin = 60_000;

export class Ipv6Prefixes {
  readonly #options: Ipv6PrefixesOptions;
  readonly #surroundings: Ipv6Surroundings;
  /** Nodes by the prefix that they show. */
  readonly #nodes = new Map<string, Set<string>>();
  /** By node: when it last changed which of its interfaces are excluded. */
  readonly #exclusionChangedAt = new Map<string, number>();

  constructor(options: Ipv6PrefixesOptions, surroundings: Ipv6Surroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    options.rig.cluster.kubernetes.follow('ciliumnodes.cilium.io', (change) => {
      if (!isFake(change.key)) this.#onNode(change);
    });
  }

  /** A call of a controller changes an interface. */
  onInterface(before: Interface, after: Interface): void {
    if (prefixesOn(before).length + prefixesOn(after).length === 0) return;
    const acting = this.#options.rig.acting(idOf(before, after));
    if (acting === undefined) return;
    const deed = `${acting.action} of ${acting.identity}`;
    const unassigned = after === undefined ? [] : missing(prefixesOn(before), prefixesOn(after));
    for (const prefix of unassigned)
      this.#surroundings.report('misdeed', `${deed} unassigns ${prefix} of ${idOf(before, after)}`);
    this.#checkLoss(deed, before, after);
    this.#checkSecond(deed, before, after);
  }

  /** An interface that leaves its instance takes its prefixes along. */
  #checkLoss(deed: string, before: Interface, after: Interface): void {
    const attached = unlessDetaching(before);
    if (attached?.instanceId === undefined || unlessDetaching(after) !== undefined) return;
    for (const [address, user] of this.#machineOn(attached.instanceId)?.memory.ipv6Endpoints ?? [])
      if (attached.ipv6Prefixes.includes(prefixOf(address)))
        this.#surroundings.report(
          'unassigned-in-use',
          `${deed} takes ${address} from ${user} (${attached.id})`,
        );
  }

  #checkSecond(deed: string, before: Interface, after: Interface): void {
    const instanceId = after?.instanceId;
    if (instanceId === undefined) return;
    const had = before?.instanceId === instanceId ? prefixesOn(before) : [];
    if (missing(prefixesOn(after), had).length === 0) return;
    const name = this.#machineOn(instanceId)?.facts.name ?? '';
    const all = this.#prefixesForPods(name, instanceId);
    if (all.length > 1 && !this.#hasJustChangedExclusions(name))
      this.#surroundings.report('misdeed', `${deed} gives ${name} another prefix: ${all.join(' ')}`);
  }

  /** As both the agent's options and the CiliumNode say. */
  #prefixesForPods(name: string, instanceId: string): readonly string[] {
    const { network, kubernetes, workload } = this.#options.rig.cluster;
    const shown = firstIndexOf(kubernetes.get('ciliumnodes.cilium.io', name));
    const first = Math.max(workload.machineOf(name)?.facts.eni?.firstInterfaceIndex ?? 0, shown);
    return [...network.interfaces.values()].flatMap((item) =>
      item.instanceId === instanceId && (item.deviceIndex ?? 0) >= first ? item.ipv6Prefixes : [],
    );
  }

  #hasJustChangedExclusions(name: string): boolean {
    const changedAt = this.#exclusionChangedAt.get(name) ?? -Infinity;
    return this.#options.now() < changedAt + exclusionHeardWithin;
  }

  #machineOn(instanceId: string): ReturnType<CloudRig['cluster']['workload']['machineOf']> {
    const { workload } = this.#options.rig.cluster;
    const view = workload.views.find(({ facts }) => facts.instanceId === instanceId);
    return view && workload.machineOf(view.nodeName);
  }

  #onNode(change: Change): void {
    const { kind, key, object, previous } = change;
    const shown = kind === 'DELETED' ? [] : ipv6PrefixesShown(object);
    const formerly = ipv6PrefixesShown(previous);
    if (firstIndexOf(object) !== firstIndexOf(previous))
      this.#exclusionChangedAt.set(key, this.#options.now());
    this.#checkWriter(change, { hidden: missing(formerly, shown), offered: missing(shown, formerly) });
    for (const prefix of missing(formerly, shown)) this.#nodes.get(prefix)?.delete(key);
    for (const prefix of missing(shown, formerly)) this.#index(key, prefix);
  }

  #index(node: string, prefix: string): void {
    const nodes = (this.#nodes.get(prefix) ?? new Set()).add(node);
    this.#nodes.set(prefix, nodes);
    if (nodes.size > 1)
      this.#surroundings.report('offered-twice', `${prefix} is offered on ${[...nodes].join(' and ')}`);
  }

  #checkWriter(
    change: Change,
    { hidden, offered }: { readonly hidden: readonly string[]; readonly offered: readonly string[] },
  ): void {
    const writer = this.#options.rig.cluster.kubernetes.acting?.headers['user-agent'];
    if (writer?.startsWith('headwater') !== true) return;
    this.#checkHidden(change.key, hidden);
    this.#checkOffers(change.key, offered);
    for (const id of interfacesWithoutMember(change))
      this.#surroundings.report('misdeed', `${writer} drops what others wrote of ${id} on ${change.key}`);
  }

  #checkHidden(node: string, hidden: readonly string[]): void {
    const machine = this.#options.rig.cluster.workload.machineOf(node);
    if (machine === undefined || hidden.length === 0) return;
    const { facts, memory } = machine;
    for (const [address, user] of memory.ipv6Endpoints) {
      if (!hidden.includes(prefixOf(address)) || covers(memory.leftOut, address)) continue;
      if (this.isLost(facts.instanceId, address)) continue;
      this.#surroundings.report('hidden-in-use', `${prefixOf(address)} of ${user} is hidden on ${node}`);
    }
  }

  #checkOffers(node: string, offered: readonly string[]): void {
    const instanceId = this.#options.rig.cluster.workload.machineOf(node)?.facts.instanceId;
    if (instanceId === undefined) return;
    for (const prefix of offered) {
      const had = this.#surroundings.assignments.lastHad(instanceId, prefix);
      if (had === -Infinity)
        this.#surroundings.report(
          'offered-unassigned',
          `${node} offers ${prefix}, which it ${heldText(had)}`,
        );
    }
  }

  /** Whether others took the address so long ago that two reads can have shown that, or gave it to another instance. */
  isLost(instanceId: string, address: string): boolean {
    const { now, consistencyWindow, rig } = this.#options;
    const had = this.#surroundings.assignments.lastHad(instanceId, address);
    if (had === Infinity) return false;
    const isElsewhere = [...rig.cluster.network.interfaces.values()].some(
      (item) => item.instanceId !== instanceId && item.ipv6Prefixes.includes(prefixOf(address)),
    );
    return had <= now() - consistencyWindow || isElsewhere || !this.#isRunning(instanceId);
  }

  #isRunning(instanceId: string): boolean {
    const state = this.#options.rig.cluster.network.instances.get(instanceId)?.state;
    return state === 'running' || state === 'pending';
  }
}

/** The IPv6 prefixes that a CiliumNode shows. */
export function ipv6PrefixesShown(node: JsonObject | undefined): readonly string[] {
  return Object.values(enisOf(node)).flatMap((each) => textsAt(each, 'ipv6-prefixes'));
}

function firstIndexOf(node: JsonObject | undefined): number {
  const first = valueAt(node, 'spec', 'eni', 'first-interface-index');
  return typeof first === 'number' ? first : 0;
}

function prefixesOn(item: Interface): readonly string[] {
  return item?.ipv6Prefixes ?? [];
}

/** Those of the first list that the second lacks. */
function missing(texts: readonly string[], others: readonly string[]): readonly string[] {
  return texts.filter((text) => !others.includes(text));
}
