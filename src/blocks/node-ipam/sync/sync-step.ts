// Decides what brings a Node and what the cloud routes to it into accord, and what to do about faults. Pure.
import { type Cidr, cidrText, isSame } from '../../set/cidr.ts';
import type { BlockCondition } from '../../allocation/block-holders.ts';

/** Who decides on pod CIDRs. */
export type SyncMode = 'IPAMFromCluster' | 'IPAMFromCloud';

export interface SyncFacts {
  /** The pod CIDR of the Node; undefined if it has none. */
  readonly podCidr: Cidr | undefined;
  /** The CIDR that the cloud routes to its instance: of several, the first one. */
  readonly alias: Cidr | undefined;
  /** The block that this process took for the Node. */
  readonly taken: Cidr | undefined;
}

export type SyncStep =
  /** Take a block, have the cloud route it to the instance, then write it to the Node. */
  | { readonly kind: 'allocate' }
  /** Have the cloud route this to the instance. */
  | { readonly kind: 'addAlias'; readonly cidr: Cidr }
  /** Write this to the Node. */
  | { readonly kind: 'setPodCidr'; readonly cidr: Cidr }
  | { readonly kind: 'inSync' }
  | { readonly kind: 'mismatch'; readonly podCidr: Cidr; readonly alias: Cidr }
  /** The other side should have decided. */
  | { readonly kind: 'invalidMode' };

export function syncStep(mode: SyncMode, { podCidr, alias, taken }: SyncFacts): SyncStep {
  if (podCidr !== undefined && alias !== undefined)
    return isSame(podCidr, alias) ? { kind: 'inSync' } : { kind: 'mismatch', podCidr, alias };
  if (mode === 'IPAMFromCloud')
    return alias === undefined ? { kind: 'invalidMode' } : { kind: 'setPodCidr', cidr: alias };
  if (podCidr !== undefined) return { kind: 'addAlias', cidr: podCidr };
  if (alias === undefined) return { kind: 'allocate' };
  // The half of our own work, of which the other half failed.
  return taken !== undefined && isSame(alias, taken)
    ? { kind: 'setPodCidr', cidr: taken }
    : { kind: 'invalidMode' };
}

/** The other side should have decided: in the first mode, nothing but Headwater adds aliases; in the second, it adds none. */
export function invalidMode(
  mode: SyncMode,
  { podCidr, alias }: { readonly podCidr: Cidr | undefined; readonly alias: Cidr | undefined },
): BlockCondition {
  const reason = 'InvalidSyncMode';
  if (mode === 'IPAMFromCluster' && alias !== undefined)
    return {
      reason,
      message: `it has no pod CIDR, although the cloud routes ${cidrText(alias)} to its instance, and with --cidr-allocator-type=IPAMFromCluster only Headwater has that done: remove the alias, or use IPAMFromCloud`,
    };
  const what =
    podCidr === undefined ? 'neither a pod CIDR nor an alias' : `pod CIDR ${cidrText(podCidr)}, but no alias`;
  return {
    reason,
    message: `it has ${what}, and with --cidr-allocator-type=IPAMFromCloud the cloud decides: have it route ${podCidr === undefined ? 'a block' : 'that'} to the instance, or use IPAMFromCluster`,
  };
}

export function mismatch(podCidr: Cidr, alias: Cidr): BlockCondition {
  return {
    reason: 'PodCIDRMismatch',
    message: `its pod CIDR is ${cidrText(podCidr)}, and the cloud routes ${cidrText(alias)} to its instance. The API server never lets a pod CIDR change: correct the alias, or drain the node, delete the Node and let it register again`,
  };
}

/** The cloud routes to it what it cannot get. */
export function unusableAlias(alias: Cidr, why: AliasObstacle): BlockCondition {
  const what = `the cloud routes ${cidrText(alias)} to its instance`;
  switch (why.kind) {
    case 'outside':
      return {
        reason: 'PodCIDROutsidePools',
        message: `${what}, which is not within --cluster-cidr: correct the alias or the option`,
      };
    case 'services':
      return {
        reason: 'PodCIDRConflict',
        message: `${what}, which overlaps the addresses of Services: correct the alias`,
      };
    case 'other':
      return {
        reason: 'PodCIDRConflict',
        message: `${what}, which overlaps a pod CIDR or an alias of ${why.node}: correct the alias, or delete that Node if its machine is gone`,
      };
  }
}

export type AliasObstacle =
  | { readonly kind: 'outside' | 'services' }
  | { readonly kind: 'other'; readonly node: string };

/** A Node is gone whose pod CIDR is none: nothing of it can be freed. */
export function unreadableAtDeletion(text: string): BlockCondition {
  return {
    reason: 'PodCIDRUnreadable',
    message: `it was deleted with the pod CIDR ${JSON.stringify(text.slice(0, 60))}, which is no CIDR: nothing was held for it`,
  };
}
