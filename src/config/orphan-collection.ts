// Whether interfaces that are attached to nothing are collected, and how. Pure.
import type { Options } from './option-table.ts';

export type CollectionDecision =
  | { readonly kind: 'on'; readonly interval: number; readonly dryRun: boolean }
  | { readonly kind: 'off' }
  /** It is wanted, and would take what may be another cluster's. */
  | { readonly kind: 'refused'; readonly because: string; readonly remedy: string };

/** The name of every cluster that was not given one: interfaces that carry it may be anybody's. */
const nameOfAnybody = 'default';

export function collectionOf(
  options: Pick<Options, 'clusterName' | 'eniGcTags' | 'eniGcInterval' | 'eniGcDryRun'>,
): CollectionDecision {
  const { clusterName, eniGcTags, eniGcInterval: interval, eniGcDryRun: dryRun } = options;
  if (interval === 0) return { kind: 'off' };
  if (clusterName === nameOfAnybody && Object.keys(eniGcTags).length === 0) {
    return {
      kind: 'refused',
      because: `the cluster's name is ${nameOfAnybody}, as that of any cluster without one: their interfaces cannot be told apart`,
      remedy:
        'set --cluster-name to a name that no other cluster of the account has (or --eni-gc-tags to tags that no other cluster sets), or --eni-gc-interval=0',
    };
  }
  return { kind: 'on', interval, dryRun };
}
