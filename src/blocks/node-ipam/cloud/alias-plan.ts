// Decides what a Node gets for what the cloud routes to its instance. Pure.
import { type Cidr, type Family, isSame } from '../../set/cidr.ts';

export interface AliasFacts {
  /** The pod CIDRs of the Node. */
  readonly shown: readonly Cidr[];
  /** CIDRs that the cloud routes to its instance, in the order of the cloud. */
  readonly aliases: readonly Cidr[];
  /** The families that a Node has to have, the primary one first; empty if those count that the cloud routes. */
  readonly families: readonly Family[];
}

export type AliasPlan =
  /** The Node gets these as its pod CIDRs. */
  | { readonly kind: 'assign'; readonly cidrs: readonly Cidr[] }
  /** The pod CIDRs of the Node are routed to it. */
  | { readonly kind: 'confirm' }
  /** The cloud routes nothing to it, or nothing of a family; `undefined` for nothing at all. */
  | { readonly kind: 'missing'; readonly family: Family | undefined }
  /** The pod CIDR of the Node is not routed to it, and cannot be changed. */
  | { readonly kind: 'mismatch'; readonly cidr: Cidr; readonly routed: readonly Cidr[] };

const inThisOrder: readonly Family[] = ['ipv4', 'ipv6'];

/** A Node gets one pod CIDR a family, the first one that the cloud shows, and can never get one of another family later. */
export function aliasPlan({ shown, aliases, families }: AliasFacts): AliasPlan {
  if (shown.length > 0) {
    const stray = shown.find((cidr) => !aliases.some((alias) => isSame(alias, cidr)));
    return stray === undefined ? { kind: 'confirm' } : { kind: 'mismatch', cidr: stray, routed: aliases };
  }
  if (aliases.length === 0) return { kind: 'missing', family: undefined };
  const firstOf = (family: Family): Cidr | undefined => aliases.find((alias) => alias.family === family);
  const missing = families.find((family) => firstOf(family) === undefined);
  if (missing !== undefined) return { kind: 'missing', family: missing };
  const order = families.length === 0 ? inThisOrder : families;
  return { kind: 'assign', cidrs: order.flatMap((family) => firstOf(family) ?? []) };
}
