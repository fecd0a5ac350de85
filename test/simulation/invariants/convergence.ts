// What is not yet as it should be, once nothing goes wrong any more.
import { looseInterfaces, type NodeStanding, standings } from '../../../src/simulator/cluster/invariants.ts';
import { instanceTypes, carriesPrefixes } from '../../../src/simulator/cloud/instance-types.ts';
import { contains, parseIpv4, parseIpv4Block } from '../../../src/simulator/cloud/ipv4.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import type { NodeView } from '../../../src/simulator/workload/node-view.ts';
import { requiredAddresses } from '../../../src/simulator/workload/start-gate.ts';
import type { Stage } from '../harness.ts';
import { membersOf } from './assignments.ts';
import type { Breach, Invariant } from './violation.ts';
import { offeredBy, shownNodeOf } from './shown-node.ts';

type Note = (invariant: Invariant, text: string) => void;

export function unsettled(stage: Stage): readonly Breach[] {
  const { cluster, now } = stage;
  const found: Breach[] = [];
  const note: Note = (invariant, text) => found.push({ invariant, at: now, text });
  const byNode = new Map(standings(cluster).map((standing) => [standing.node, standing]));
  for (const view of cluster.workload.views) {
    const standing = byNode.get(view.nodeName);
    if (standing === undefined) continue;
    noteSupply(stage, view, standing, note);
    noteIdle(stage, view, standing, note);
    noteNode(stage, view, note);
  }
  for (const item of looseInterfaces(cluster))
    if (isOurs(item)) note('left-behind', `${item.id} is attached to nothing`);
  return found;
}

function noteSupply(stage: Stage, view: NodeView, standing: NodeStanding, note: Note): void {
  const { nodeName } = view;
  const { held, used, most, met } = standing;
  const room = roomFor(stage, view);
  const figures = `held ${held}, used ${used}, at most ${most}`;
  if (!met && room > 0) note('short', `${nodeName} lacks addresses: ${figures}, room for ${room}`);
  if (held > limitOf(stage, view, standing))
    note('beyond-limit', `${nodeName} has more than it may: ${figures}`);
  if (view.waitingPods.size > 0 && used < most && room > 0 && mayStart(stage, view, standing))
    note('waiting', `${view.waitingPods.size} pods wait on ${nodeName}: ${figures}`);
  noteExcess(stage, view, standing, (text) => note('excess', `${text}: ${figures}`));
}

/**
 * What a node may keep at most: what its agent uses outranks each limit. An agent that is not asked says that it holds its free
 * buffer as well. What somebody else gave, or was there before a limit shrank, goes only where releases are on.
 */
function limitOf(stage: Stage, view: NodeView, { used, most }: NodeStanding): number {
  const { instanceId } = view.facts;
  const releases = stage.options.awsReleaseExcessIps;
  if (!releases && stage.reconfigured.has(instanceId)) return Infinity;
  const kept = view.protocol === 'multi-pool' ? heldByAgent(stage, view) : used + view.waitingPods.size;
  const gifts = releases ? 0 : stage.judge.allowances.gifts(instanceId);
  return Math.max(most, kept, singlesOf(stage, view)) + gifts + graceOf(stage, view);
}

/**
 * Single addresses that a node which gets prefixes may have: it is limited by blocks, and where none is whole, single addresses
 * fill each interface that it may have, those at device indexes above its own count as well.
 */
function singlesOf(stage: Stage, { facts }: NodeView): number {
  const { eni = {}, ipam = {} } = facts;
  const type = instanceTypes.get(facts.instanceType);
  const asks = stage.options.awsEnablePrefixDelegation && eni.disablePrefixDelegation !== true;
  if (type === undefined || !asks || !carriesPrefixes(type)) return 0;
  const allowed = (type.cards[0] ?? 0) - belowFirst(stage, facts.instanceId, eni.firstInterfaceIndex);
  return Math.min(allowed * (type.ipv4PerInterface - 1), ipam.maxAllocate ?? Infinity);
}

/** Interfaces of an instance whose addresses are not for pods. */
function belowFirst(stage: Stage, instanceId: string, first = 0): number {
  return interfacesOf(stage, instanceId).filter(({ deviceIndex = 0 }) => deviceIndex < first).length;
}

/** Addresses that an agent which is not asked says it holds, as far as its instance has them. */
function heldByAgent(stage: Stage, { nodeName, facts }: NodeView): number {
  const { allocated } = shownNodeOf(stage.cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName));
  return allocated
    .flatMap((cidr) => (cidr.endsWith('/32') ? [cidr.slice(0, -3)] : membersOf(cidr)))
    .filter((address) => stage.judge.assignments.has(facts.instanceId, address)).length;
}

function noteExcess(
  stage: Stage,
  view: NodeView,
  { excess }: NodeStanding,
  note: (text: string) => void,
): void {
  if (stage.options.awsReleaseExcessIps && excess > graceOf(stage, view) + inLostBlocks(stage, view))
    note(`${view.nodeName} (${view.protocol}) has ${excess} too many`);
}

/** A node that lacks addresses keeps its interfaces: each takes the next one that gets free in its subnet. */
function noteIdle(stage: Stage, { nodeName, facts }: NodeView, { met }: NodeStanding, note: Note): void {
  const { awsReleaseExcessIps, idleInterfaceDelay } = stage.options;
  if (!awsReleaseExcessIps || idleInterfaceDelay === undefined || !met) return;
  const first = facts.eni?.firstInterfaceIndex ?? 0;
  const idle = interfacesOf(stage, facts.instanceId).filter(
    ({ deviceIndex = 0, addresses, prefixes }) =>
      deviceIndex > first && addresses.length + prefixes.length === 1,
  );
  if (idle.length > 0)
    note('excess', `${nodeName} has interfaces without addresses: ${idle.map(({ id }) => id).join(' ')}`);
}

function noteNode(stage: Stage, { nodeName, facts, protocol }: NodeView, note: Note): void {
  const shown = shownNodeOf(stage.cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName));
  const lost = [...offeredBy(shown, protocol)].filter(
    (address) => !stage.judge.assignments.has(facts.instanceId, address),
  );
  if (lost.length > 0) note('stale-offer', `${nodeName} offers what the cloud has not: ${lost.join(' ')}`);
  const open = Object.entries(shown.handshakes);
  if (open.length > 0) note('open-handshake', `${nodeName}: ${JSON.stringify(shown.handshakes)}`);
}

/**
 * Addresses for pods left in the subnets in which a node has an interface that takes more, or may have another one, which
 * takes one for itself.
 */
export function roomFor(stage: Stage, { facts }: NodeView): number {
  const { cards = [], ipv4PerInterface = 0 } = instanceTypes.get(facts.instanceType) ?? {};
  const held = interfacesOf(stage, facts.instanceId);
  const first = facts.eni?.firstInterfaceIndex ?? 0;
  const takingMore = held.filter(
    ({ deviceIndex = 0, addresses, prefixes }) =>
      deviceIndex >= first && addresses.length + prefixes.length < ipv4PerInterface,
  );
  const reached = new Set(takingMore.map(({ subnetId }) => subnetId));
  const mayHaveAnother = held.length < (cards[0] ?? 0);
  return [...stage.cluster.ec2.network.subnets.values()]
    .map(({ id, zone, tags, available }) => {
      if (reached.has(id)) return available;
      const takesAnother = mayHaveAnother && zone === facts.zone && tags['purpose'] === 'pods';
      return takesAnother ? Math.max(0, available - 1) : 0;
    })
    .reduce((sum, room) => sum + room, 0);
}

/**
 * Whether an agent serves pods or can come to. One of the CRD allocator does not start with fewer addresses than its
 * `min-allocate`: where the node may never have so many, no controller can bring it about.
 */
export function mayStart({ cluster }: Stage, view: NodeView, { held, most }: NodeStanding): boolean {
  const { nodeName, phase, protocol } = view;
  const node = cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName);
  if (phase === 'serving' || protocol !== 'crd-allocator' || node === undefined) return true;
  return requiredAddresses(node, true) <= Math.max(held, most);
}

/** What a node may keep beyond its watermarks: parts of prefixes that are in use. */
function graceOf(stage: Stage, { facts, addressesInUse }: NodeView): number {
  const prefixes = interfacesOf(stage, facts.instanceId).flatMap((item) => item.prefixes).length;
  return prefixes === 0 ? 0 : Math.min(prefixes, addressesInUse.size + 1) * 16;
}

/** Addresses in a prefix that the node does not have any more, and that its agent goes on with: no controller can tell which. */
function inLostBlocks(stage: Stage, { nodeName, facts }: NodeView): number {
  const { allocated } = shownNodeOf(stage.cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName));
  const blocks = allocated.flatMap((cidr) => (cidr.endsWith('/32') ? [] : (parseIpv4Block(cidr) ?? [])));
  return interfacesOf(stage, facts.instanceId)
    .flatMap(({ addresses }) => addresses)
    .filter((address) => blocks.some((block) => contains(block, parseIpv4(address) ?? -1))).length;
}

function interfacesOf({ cluster }: Stage, instanceId: string): readonly NetworkInterface[] {
  return [...cluster.ec2.network.interfaces.values()].filter((item) => item.instanceId === instanceId);
}

function isOurs({ tags }: NetworkInterface): boolean {
  return tags['io.cilium/cilium-managed'] === 'true';
}
