// Restores an instance's interfaces from its CiliumNode after a restart. This state counts until the cloud
// contradicts it twice, so a restart that meets a stale listing removes nothing.
import type { CiliumNode, PoolEntry } from '../../kubernetes/cilium-node/cilium-node.ts';
import { shownTo } from '../../kubernetes/cilium-node/shown-addresses.ts';
import type { WatchedNode } from '../../kubernetes/cilium-node/cilium-node-reader.ts';
import { memberOf } from '../../runtime/json.ts';
import type { CiliumNodeSection, RestoredState } from '../../providers/contract/cilium-node-section.ts';
import type { CallTiming } from '../../providers/contract/operations.ts';
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import type { RestorePoint } from '../../providers/inventory/previous-leader-state.ts';
import { protocolOf } from '../demand/demand.ts';
import {
  allAssignments,
  expandHolding,
  interfaceByName,
  isByName,
  type NetworkInterface,
  onlyWith,
  secondaryAssignments,
} from '../../providers/contract/network-interface.ts';

type Restoring = Pick<CiliumNodeSection, 'key' | 'restore'>;

/**
 * Keeps the spelling of ids in all CiliumNodes, because a CiliumNode may be served only after the cloud was read. If
 * spellings differ, that of a CiliumNode that a Node verifies counts.
 */
export function keepSpellings(
  nodes: readonly { readonly newest: WatchedNode | undefined }[],
  { key, keepSpelling }: Pick<CiliumNodeSection, 'key' | 'keepSpelling'>,
  ownership: { readonly isVerified: (name: string, instanceId: string) => boolean },
): void {
  if (keepSpelling === undefined) return;
  const known = nodes.flatMap(({ newest }) => (newest?.kind === 'node' ? [newest.node] : []));
  const isFirst = ({ name, instanceId = '' }: CiliumNode): boolean => ownership.isVerified(name, instanceId);
  const inTurn = known.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
  for (const { base } of inTurn) keepSpelling(memberOf(base.status, key));
}

export function restoredState(node: CiliumNode, instanceId: string, section: Restoring): RestoredState {
  const status = memberOf(node.base.status, section.key);
  const restored = section.restore(instanceId, status, node.section.zone ?? '');
  const shown = new Set(restored.interfaces.flatMap((item) => allAssignments(item).flatMap(expandHolding)));
  const pooled = [...node.ipam.pool].filter(([address]) => !shown.has(address));
  const interfaces = restored.interfaces.map((item) => withPooled(item, pooled));
  const known = new Set(interfaces.map(({ id }) => id));
  const named = pooled.filter(([, { resource }]) => resource !== '' && !known.has(resource));
  return { ...restored, interfaces: [...interfaces, ...namedBy(named, node, instanceId)] };
}

/**
 * Whether the CiliumNode still shows interfaces of the instance that it named before. If it shows none, a
 * previous leader that saw the change earlier wrote what it shows now.
 */
export function isOfOtherInstance(node: CiliumNode, before: CiliumNode, section: Restoring): boolean {
  if (node.instanceId === before.instanceId) return false;
  // The pool counts too, because the status may be lost.
  const idsOf = (state: CiliumNode): readonly string[] =>
    restoredState(state, state.instanceId ?? '', section).interfaces.map(({ id }) => id);
  const former = new Set(idsOf(before));
  return idsOf(node).some((id) => former.has(id));
}

/**
 * Interfaces of a newer state, each with what `previous` did not show on it. Leaves out interfaces that show
 * nothing new, and interfaces that only a pool names, because a user can edit the pool.
 */
export function shownSince(
  previous: CiliumNode,
  node: CiliumNode,
  instanceId: string,
  section: Restoring,
): readonly NetworkInterface[] {
  const before = restoredState(previous, instanceId, section).interfaces;
  const known = new Map(before.map((item) => [item.id, new Set(secondaryAssignments(item))]));
  return restoredState(node, instanceId, section)
    .interfaces.map((item) => {
      const isNew = (holding: string): boolean => known.get(item.id)?.has(holding) !== true;
      return onlyWith(item, isNew);
    })
    .filter((item) => !isByName(item) && (!known.has(item.id) || secondaryAssignments(item).length > 0));
}

/**
 * Adds pool addresses on the interface that no status shows. If the status shows an address on another
 * interface, the pool is older: an address enters the pool last.
 */
function withPooled(
  item: NetworkInterface,
  pooled: readonly (readonly [string, PoolEntry])[],
): NetworkInterface {
  const own = pooled.filter(([, { resource }]) => resource === item.id);
  if (own.length === 0) return item;
  return { ...item, addresses: [...item.addresses, ...own.map(([address]) => address)] };
}

/** Interfaces that only the pool names. A wiped status shows nothing of what pods still use. */
function namedBy(
  pooled: readonly (readonly [string, PoolEntry])[],
  node: CiliumNode,
  instanceId: string,
): readonly NetworkInterface[] {
  const byInterface = Map.groupBy(pooled, ([, { resource }]) => resource);
  return [...byInterface].map(([id, own]) =>
    interfaceByName({
      id,
      instanceId,
      networkId: node.section.networkId ?? '',
      addresses: own.map(([address]) => address),
    }),
  );
}

/** Addresses that the agent gave up and that the object must no longer show. */
export function pendingReleaseIn({ status }: CiliumNode): ReadonlySet<string> {
  const agreed = [...status.releaseIps].filter(([, state]) => state === 'ready-for-release');
  return new Set(agreed.map(([address]) => address));
}

/**
 * Addresses that a former leader may still be releasing. The CiliumNode of a multi-pool agent does not name them, because
 * there is no handshake. If a call changes the whole instance, a call without an answer may then take effect until its
 * time-out (call-timing.ts).
 */
export function formerReleases(
  node: CiliumNode,
  { release, timing }: { readonly release: { readonly enabled: boolean }; readonly timing: CallTiming },
  { change }: Pick<CloudTraits, 'change'>,
): Omit<RestorePoint, 'restoredAt'> {
  const isUnnamed = change === 'perInstance' && release.enabled && protocolOf(node) === 'multi-pool';
  return { pendingRelease: pendingReleaseIn(node), openFor: isUnnamed ? timing.callTimeout : 0 };
}

const none: ReadonlySet<string> = new Set();

/**
 * Given-up addresses that the object shows nowhere. They are leaving, and no agent can take them. The
 * previous leader may have sent the unassign call without seeing its answer. An address that is shown again
 * is not given up.
 */
export function givenUpAndHidden(node: CiliumNode): ReadonlySet<string> {
  const { status } = node;
  if (status.releaseIps.size === 0 || protocolOf(node) !== 'crd') return none;
  const isShown = shownTo(node);
  return new Set(
    [...pendingReleaseIn(node)].filter((address) => !isShown(address) && !status.used.has(address)),
  );
}
