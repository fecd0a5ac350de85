// Invariants that must hold once faults are over: violations that remain until the cluster converges.
import {
  detachedInterfaces,
  type NodeStanding,
  standings,
} from '../../../src/simulator/cluster/invariants.ts';
import { instanceTypes, carriesPrefixes } from '../../../src/simulator/cloud/instance-types.ts';
import { contains, parseIpv4, parseIpv4Block } from '../../../src/simulator/cloud/ipv4.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import { textAt } from '../../../src/simulator/workload/json.ts';
import type { NodeView } from '../../../src/simulator/workload/node-view.ts';
import { awaitsStaticAddress, requiredAddresses } from '../../../src/simulator/workload/start-gate.ts';
import { cloudSettings } from '../../../src/config/clouds/clouds.ts';
import { agentCloudOf } from '../../../src/simulator/workload/clouds/known-clouds.ts';
import type { Harness } from '../harness.ts';
import { membersOf } from './assignments.ts';
import type { Violation, Invariant } from './violation.ts';
import { checkIpv6, isWithoutIpv6 } from './ipv6-supply.ts';
import { offeredBy, shownNodeOf } from './shown-node.ts';

type Report = (invariant: Invariant, text: string) => void;

export function convergenceViolations(harness: Harness): readonly Violation[] {
  const { cluster, now } = harness;
  const found: Violation[] = [];
  const report: Report = (invariant, text) => found.push({ invariant, at: now, text });
  const byNode = new Map(standings(cluster).map((standing) => [standing.node, standing]));
  for (const view of cluster.workload.views) {
    const standing = byNode.get(view.nodeName);
    if (standing === undefined) continue;
    checkSupply(harness, view, standing, report);
    checkIdleInterfaces(harness, view, standing, report);
    checkCiliumNode(harness, view, standing, report);
    checkStaticAddress(harness, view, (text) => report('static-address', text));
    checkDeviceSetup(harness, view, (text) => report('device-set-up', text));
    checkIpv6(cluster, view, report);
  }
  for (const item of detachedInterfaces(cluster))
    if (isOurs(item)) report('leaked-interface', `${item.id} is orphaned`);
  return found;
}

function checkSupply(harness: Harness, view: NodeView, standing: NodeStanding, report: Report): void {
  const { nodeName } = view;
  const { held, used, max, met } = standing;
  const room = harness.rig.roomFor(view);
  const figures = `held ${held}, used ${used}, at most ${max}`;
  if (!met && room > 0) report('in-deficit', `${nodeName} is in deficit: ${figures}, room for ${room}`);
  if (held - unanswered(harness, view, standing).length > limitOf(harness, view, standing))
    report('above-max-allocate', `${nodeName} exceeds its limit: ${figures}`);
  if (view.pendingPods.size > 0 && used < max && room > 0 && mayStart(harness, view, standing))
    report('pending-pods', `${view.pendingPods.size} pods are pending on ${nodeName}: ${figures}`);
  checkExcess(harness, view, standing, (text) => report('excess', `${text}: ${figures}`));
}

/**
 * Maximum addresses that a node may keep. Addresses that its agent uses outrank every limit, and so do primary addresses,
 * where pods can have them; an agent that is not asked also reports its free buffer as used. Addresses from external changes,
 * or from before a limit shrank, leave only if releases are enabled.
 */
function limitOf(harness: Harness, view: NodeView, { used, max }: NodeStanding): number {
  const { instanceId } = view.facts;
  const { releaseExcessIps: releases } = cloudSettings(harness.options);
  if (!releases && harness.reconfigured.has(instanceId)) return Infinity;
  const kept = view.protocol === 'multi-pool' ? heldByAgent(harness, view) : used + view.pendingPods.size;
  const { allowances } = harness.checker;
  // A change of others that failed may have added something nevertheless.
  const extra = Math.max(harness.rig.madeByOthers(instanceId), releases ? 0 : allowances.extra(instanceId));
  const single = singleAddressesOf(harness, view);
  return Math.max(max, kept + freePrimaries(harness, view), single) + extra + prefixGraceOf(harness, view);
}

/**
 * Single addresses that a node with prefix delegation may have. Blocks limit it; without a whole block, single
 * addresses fill every interface that it may have, also those at device indexes above its own.
 */
function singleAddressesOf(harness: Harness, { facts }: NodeView): number {
  const { eni = {}, ipam = {} } = facts;
  const type = instanceTypes.get(facts.instanceType);
  const asks = harness.options.awsEnablePrefixDelegation && eni.disablePrefixDelegation !== true;
  if (type === undefined || !asks || !carriesPrefixes(type)) return 0;
  const allowed = (type.cards[0] ?? 0) - belowFirst(harness, facts.instanceId, eni.firstInterfaceIndex);
  return Math.min(allowed * (type.ipv4PerInterface - 1), ipam.maxAllocate ?? Infinity);
}

/** Number of its interfaces below the first interface index, which are not for pods. */
function belowFirst(harness: Harness, instanceId: string, first = 0): number {
  return interfacesOf(harness, instanceId).filter(({ deviceIndex = 0 }) => deviceIndex < first).length;
}

/** Addresses that an agent which is not asked reports as held, as far as its instance has them. */
function heldByAgent(harness: Harness, { nodeName, facts }: NodeView): number {
  const { allocated } = shownNodeOf(harness.cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName));
  return allocated
    .flatMap((cidr) => (cidr.endsWith('/32') ? [cidr.slice(0, -3)] : membersOf(cidr)))
    .filter((address) => harness.checker.assignments.has(facts.instanceId, address)).length;
}

function checkExcess(
  harness: Harness,
  view: NodeView,
  standing: NodeStanding,
  report: (text: string) => void,
): void {
  const kept = [
    prefixGraceOf(harness, view),
    inLostBlocks(harness, view),
    freePrimaries(harness, view),
    harness.rig.madeByOthers(view.facts.instanceId),
  ].reduce((sum, count) => sum + count, 0);
  // Such an agent never gets so far that it drops what it holds.
  if (view.protocol === 'multi-pool' && !mayStart(harness, view, standing)) return;
  const { excess } = standing;
  if (cloudSettings(harness.options).releaseExcessIps && excess > kept)
    report(`${view.nodeName} (${view.protocol}) has an excess of ${excess}`);
}

/** A node in deficit keeps its interfaces: each can get the next address that becomes free in its subnet. */
function checkIdleInterfaces(harness: Harness, view: NodeView, { met }: NodeStanding, report: Report): void {
  const { nodeName, facts } = view;
  const { idleInterfaceDelay } = harness.options;
  const { releaseExcessIps, usePrimaryAddress } = cloudSettings(harness.options);
  if (!releaseExcessIps || usePrimaryAddress || idleInterfaceDelay === undefined || !met) return;
  // They come and go with their VM.
  if (harness.rig.cloud === 'azure') return;
  const idle = idleOf(interfacesOf(harness, facts.instanceId), view);
  if (idle.length > 0)
    report('excess', `${nodeName} has interfaces without addresses: ${idle.map(({ id }) => id).join(' ')}`);
}

/**
 * Interfaces that no pod needs. A new interface may get, as its primary address, an address that a pod of its node lost and
 * still uses: were it deleted, another node could get that address.
 */
export function idleOf(
  interfaces: readonly NetworkInterface[],
  { facts, addressesInUse }: Pick<NodeView, 'facts' | 'addressesInUse'>,
): readonly NetworkInterface[] {
  const first = facts.eni?.firstInterfaceIndex ?? 0;
  return interfaces.filter(
    ({ deviceIndex = 0, addresses, prefixes, ipv6Prefixes, primaryAddress }) =>
      deviceIndex > first &&
      addresses.length + prefixes.length + ipv6Prefixes.length === 1 &&
      !addressesInUse.has(primaryAddress),
  );
}

function checkCiliumNode(harness: Harness, view: NodeView, standing: NodeStanding, report: Report): void {
  const { nodeName, facts, protocol } = view;
  const shown = shownNodeOf(harness.cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName));
  const lost = [...offeredBy(shown, protocol)].filter(
    (address) => !harness.checker.assignments.has(facts.instanceId, address),
  );
  if (lost.length > 0)
    report('stale-offer', `${nodeName} offers what its instance does not have: ${lost.join(' ')}`);
  const expected = new Set(unanswered(harness, view, standing));
  const open = Object.keys(shown.handshakes).filter((address) => !expected.has(address));
  if (open.length > 0) report('unfinished-release', `${nodeName}: ${JSON.stringify(shown.handshakes)}`);
}

/** A node that asks for a public address has one if there is one, and shows it; another one has none. */
function checkStaticAddress(
  harness: Harness,
  { nodeName, facts }: NodeView,
  report: (text: string) => void,
): void {
  const { publicAddresses } = harness.rig;
  if (publicAddresses === undefined) return;
  const { instanceId, ipam: { staticIpTags } = {} } = facts;
  const own = publicAddresses.of(instanceId);
  const node = harness.cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName);
  const shown = textAt(node ?? {}, 'status', 'ipam', 'assigned-static-ip');
  if (shown !== own) report(`${nodeName} shows the public address ${shown} and has ${own}`);
  if (staticIpTags === undefined && own !== '') report(`${nodeName} has ${own} and asked for none`);
  if (staticIpTags !== undefined && own === '' && publicAddresses.isLeftFor(instanceId))
    report(`${nodeName} has no public address, and there is one`);
}

/** Nothing in its CiliumNode keeps an agent from setting up the next interface. */
function checkDeviceSetup(
  { cluster }: Harness,
  { nodeName, facts, protocol }: NodeView,
  report: (text: string) => void,
): void {
  const node = cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName);
  if (protocol !== 'multi-pool' || node === undefined) return;
  const obstacle = agentCloudOf(facts).setUpObstacle(node);
  if (obstacle !== undefined) report(`${nodeName} sets up no interface: ${obstacle}`);
}

/**
 * Whether an agent serves pods or can start to. A multi-pool agent does not start without the public address that it asks for. A CRD agent does not start with fewer addresses than its
 * `min-allocate`, or its `pre-allocate` without one. If the node may never have that many, no controller can help.
 */
export function mayStart({ cluster, rig }: Harness, view: NodeView, { held, max }: NodeStanding): boolean {
  const { nodeName, phase, protocol, facts } = view;
  const node = cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName);
  if (isWithoutIpv6(cluster, view)) return false;
  if (phase === 'serving' || node === undefined) return true;
  if (protocol === 'multi-pool') {
    const { publicAddresses } = rig;
    if (publicAddresses === undefined || !awaitsStaticAddress(node)) return true;
    return publicAddresses.of(facts.instanceId) !== '' || publicAddresses.isLeftFor(facts.instanceId);
  }
  return requiredAddresses(node, true) <= Math.max(held, max);
}

/** Addresses that a CRD agent is asked to release and never answers about, because it cannot start. */
function unanswered(harness: Harness, view: NodeView, standing: NodeStanding): readonly string[] {
  if (mayStart(harness, view, standing)) return [];
  const { handshakes } = shownNodeOf(harness.cluster.kubernetes.get('ciliumnodes.cilium.io', view.nodeName));
  return Object.keys(handshakes).filter((address) => handshakes[address] === 'marked-for-release');
}

/** What a node may keep above its watermarks: parts of prefixes in use. */
function prefixGraceOf(harness: Harness, { facts, addressesInUse }: NodeView): number {
  const prefixes = interfacesOf(harness, facts.instanceId).flatMap((item) => item.prefixes).length;
  return prefixes === 0 ? 0 : Math.min(prefixes, addressesInUse.size + 1) * 16;
}

/** Addresses in a prefix that the node lost and its agent still uses; no controller can know which. */
function inLostBlocks(harness: Harness, { nodeName, facts }: NodeView): number {
  const { allocated } = shownNodeOf(harness.cluster.kubernetes.get('ciliumnodes.cilium.io', nodeName));
  const blocks = allocated.flatMap((cidr) => (cidr.endsWith('/32') ? [] : (parseIpv4Block(cidr) ?? [])));
  return interfacesOf(harness, facts.instanceId)
    .flatMap(({ addresses }) => addresses)
    .filter((address) => blocks.some((block) => contains(block, parseIpv4(address) ?? -1))).length;
}

/** Free primary addresses, where they are for pods: no interface can be without. */
function freePrimaries(harness: Harness, { facts, addressesInUse }: NodeView): number {
  if (!agentCloudOf(facts).usesPrimaryAddresses) return 0;
  return interfacesOf(harness, facts.instanceId).filter(
    ({ deviceIndex, primaryAddress }) => deviceIndex !== 0 && !addressesInUse.has(primaryAddress),
  ).length;
}

function interfacesOf({ cluster }: Harness, instanceId: string): readonly NetworkInterface[] {
  return [...cluster.network.interfaces.values()].filter((item) => item.instanceId === instanceId);
}

function isOurs({ tags }: NetworkInterface): boolean {
  return tags['io.cilium/cilium-managed'] === 'true';
}
