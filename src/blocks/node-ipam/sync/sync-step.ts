// Decides what brings a Node and what the cloud routes to it into accord. Pure.
import { type Cidr, isSame } from '../../set/cidr.ts';

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
