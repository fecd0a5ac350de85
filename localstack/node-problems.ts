// Compares what agents use and what CiliumNodes show with what the third-party server lists. Every function returns one
// line for each problem; nothing here asks the controller.
import type { KubernetesObject } from '../src/simulator/kubernetes/objects/kubernetes-object.ts';
import type { NodeView } from '../src/simulator/workload/node-view.ts';
import type { Problems } from './checks.ts';
import { blocks } from './network-plan.ts';
import type { SeededNetwork } from './seeding-api.ts';
import type { ListedAttachment, ListedInterface } from './third-party-api.ts';

/** What the checks need of a node. */
export type CheckedNode = Pick<NodeView, 'nodeName' | 'facts' | 'addressesInUse'>;

export type Attached = ListedInterface & { readonly attachment: ListedAttachment };

export function attachedTo({ facts }: CheckedNode, listed: readonly ListedInterface[]): readonly Attached[] {
  return listed.filter(
    (item): item is Attached =>
      item.attachment !== undefined && item.attachment.instanceId === facts.instanceId,
  );
}

/** The interfaces that the controller created: all but those that the instance came with. */
export function madeFor(node: CheckedNode, listed: readonly ListedInterface[]): readonly Attached[] {
  return attachedTo(node, listed).filter(({ attachment }) => attachment.deviceIndex > 0);
}

/** Addresses that the server gave to more than one interface, as EC2 never does. */
export function givenTwice(listed: readonly ListedInterface[]): ReadonlySet<string> {
  const holders = new Map<string, string>();
  const twice = new Set<string>();
  for (const { id, primaryAddress, secondaryAddresses } of listed) {
    for (const address of [primaryAddress, ...secondaryAddresses]) {
      const holder = holders.get(address) ?? id;
      holders.set(address, holder);
      if (holder !== id) twice.add(address);
    }
  }
  return twice;
}

/** A problem when the server has fewer pod addresses for the node than its watermarks ask for. */
export function belowWatermarks(node: CheckedNode, listed: readonly ListedInterface[]): Problems {
  const { preAllocate = 8, minAllocate = 0 } = node.facts.ipam ?? {};
  const wanted = Math.max(node.addressesInUse.size + preAllocate, minAllocate);
  const { size } = podAddresses(node, listed);
  return size >= wanted ? [] : [`${node.nodeName} has ${size} addresses and needs ${wanted}`];
}

/** Addresses in use that the server does not hold on the node's instance. */
export function usedWithoutHolding(node: CheckedNode, listed: readonly ListedInterface[]): Problems {
  const held = podAddresses(node, listed);
  return [...node.addressesInUse]
    .filter(([address]) => !held.has(address))
    .map(([address, user]) => `${address}, used by ${user}, is not on ${node.facts.instanceId}`);
}

export function usedTwice(nodes: readonly CheckedNode[]): Problems {
  return onTwoNodes(nodes.map(({ nodeName, addressesInUse }) => [nodeName, addressesInUse.keys()]));
}

/** Addresses that two CiliumNodes show, in status or pool. */
export function offeredTwice(objects: readonly KubernetesObject[]): Problems {
  return onTwoNodes(
    objects.map((object) => {
      const enis = Object.values(objectAt(object, 'status', 'eni', 'enis'));
      const pool = Object.keys(objectAt(object, 'spec', 'ipam', 'pool'));
      return [
        object.metadata.name ?? '',
        [...enis.flatMap((eni) => textsOf(objectAt(eni)['addresses'])), ...pool],
      ];
    }),
  );
}

/** Differences between the interfaces in a CiliumNode and those that the server lists. */
export function shownWrongly(
  node: CheckedNode,
  object: KubernetesObject | undefined,
  { listed, network }: { readonly listed: readonly ListedInterface[]; readonly network: SeededNetwork },
): Problems {
  const twice = givenTwice(listed);
  const wanted = new Map(
    attachedTo(node, listed).map((item) => [item.id, shownByServer(item, network, twice)] as const),
  );
  const enis = Object.entries(objectAt(object, 'status', 'eni', 'enis'));
  const shown = new Map(enis.map(([id, eni]) => [id, shownInStatus(eni, twice)] as const));
  return [...new Set([...wanted.keys(), ...shown.keys()])].flatMap((id) => {
    const [ours, theirs] = [shown.get(id) ?? {}, wanted.get(id) ?? {}];
    return differencesOf(ours, theirs).map((difference) => `${node.nodeName}, ${id}: ${difference}`);
  });
}

/** Differences between the addresses in the pool and those that the server lists on the interfaces for pods. */
export function offeredWrongly(
  node: CheckedNode,
  object: KubernetesObject | undefined,
  listed: readonly ListedInterface[],
): Problems {
  const twice = givenTwice(listed);
  const wanted = podAddresses(node, listed);
  const pool = Object.entries(objectAt(object, 'spec', 'ipam', 'pool'));
  const offered = new Map(pool.map(([address, entry]) => [address, objectAt(entry)['resource']] as const));
  return [...new Set([...wanted.keys(), ...offered.keys()])]
    .filter((address) => !twice.has(address) && offered.get(address) !== wanted.get(address))
    .map((address) => {
      const [ours, theirs] = [String(offered.get(address)), String(wanted.get(address))];
      return `${node.nodeName} offers ${address} on ${ours}, the server has it on ${theirs}`;
    });
}

/** Interfaces that were created for the node with wrong properties. */
export function madeWrongly(
  node: CheckedNode,
  listed: readonly ListedInterface[],
  network: SeededNetwork,
): Problems {
  const { facts, nodeName } = node;
  const group = facts.eni?.securityGroupTags === undefined ? network.nodeGroup : network.podGroup;
  return madeFor(node, listed).flatMap(({ id, description, tags, zone, subnetId, groupIds }) => {
    const subnet = [...network.subnets.values()].find((candidate) => candidate.id === subnetId);
    const right = {
      description: description.includes(facts.instanceId),
      'managed tag': tags['io.cilium/cilium-managed'] === 'true',
      'cluster tag': tags['io.cilium/cluster-name'] === 'default',
      zone: zone === facts.zone,
      subnet: subnet?.purpose === 'pods',
      'security groups': groupIds.includes(group),
    };
    const wrong = Object.entries(right).filter(([, isRight]) => !isRight);
    return wrong.map(([what]) => `${id} of ${nodeName} has the wrong ${what}`);
  });
}

export function orphaned(listed: readonly ListedInterface[]): Problems {
  return listed
    .filter(({ attachment }) => attachment === undefined)
    .map(({ id, description }) => `${id} (${description}) is orphaned`);
}

/** Addresses that the server has for the node's pods, with the interface of each. */
function podAddresses(node: CheckedNode, listed: readonly ListedInterface[]): ReadonlyMap<string, string> {
  const first = node.facts.eni?.firstInterfaceIndex ?? 0;
  return new Map(
    attachedTo(node, listed)
      .filter(({ attachment }) => attachment.deviceIndex >= first)
      .flatMap(({ id, secondaryAddresses }) => secondaryAddresses.map((address) => [address, id] as const)),
  );
}

function onTwoNodes(nodes: readonly (readonly [name: string, addresses: Iterable<string>])[]): Problems {
  const holders = new Map<string, string>();
  return nodes.flatMap(([name, addresses]) =>
    [...new Set(addresses)].flatMap((address) => {
      const other = holders.get(address);
      holders.set(address, name);
      return other === undefined ? [] : [`${address} is on ${other} and on ${name}`];
    }),
  );
}

type Shown = Readonly<Record<string, unknown>>;

/**
 * Security groups are left out: these servers add those of the instance at the attachment. Addresses that were given twice
 * may be shown or not.
 */
function shownByServer(item: Attached, network: SeededNetwork, twice: ReadonlySet<string>): Shown {
  const [primary, ...more] = blocks;
  return {
    ip: item.primaryAddress,
    mac: item.mac,
    description: item.description,
    index: item.attachment.deviceIndex,
    subnet: item.subnetId,
    subnetBlock: [...network.subnets.values()].find(({ id }) => id === item.subnetId)?.block,
    vpc: item.vpcId,
    vpcBlocks: [primary, ...more],
    tags: sortedEntries(item.tags),
    addresses: sortedAddresses(item.secondaryAddresses, twice),
  };
}

function shownInStatus(value: unknown, twice: ReadonlySet<string>): Shown {
  const eni = objectAt(value);
  const [vpc, subnet] = [objectAt(eni['vpc']), objectAt(eni['subnet'])];
  return {
    ip: eni['ip'],
    mac: eni['mac'],
    description: eni['description'] ?? '',
    index: eni['number'] ?? 0,
    subnet: subnet['id'],
    subnetBlock: subnet['cidr'],
    vpc: vpc['id'],
    vpcBlocks: [vpc['primary-cidr'], ...textsOf(vpc['cidrs'])],
    tags: sortedEntries(objectAt(eni['tags'])),
    addresses: sortedAddresses(textsOf(eni['addresses']), twice),
  };
}

function differencesOf(ours: Shown, theirs: Shown): Problems {
  return Object.keys({ ...ours, ...theirs }).flatMap((name) => {
    const [our, their] = [JSON.stringify(ours[name]), JSON.stringify(theirs[name])];
    return our === their ? [] : [`${name} is shown as ${our}, the server lists ${their}`];
  });
}

function sortedAddresses(addresses: readonly string[], twice: ReadonlySet<string>): readonly string[] {
  return [...new Set(addresses)].filter((address) => !twice.has(address)).toSorted();
}

function sortedEntries(tags: Shown): readonly string[] {
  return Object.entries(tags)
    .map(([key, value]) => `${key}=${String(value)}`)
    .toSorted();
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** The object at a path; empty where there is none. */
function objectAt(value: unknown, ...path: readonly string[]): Shown {
  let found: unknown = value;
  for (const name of path) found = objectAt(found)[name];
  return typeof found === 'object' && found !== null ? (found as Shown) : {};
}
