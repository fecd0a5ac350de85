// Decides whether and how to delete orphaned interfaces. Pure.
import type { Options } from './option-table.ts';

export type CollectionDecision =
  | { readonly kind: 'on'; readonly interval: number; readonly dryRun: boolean }
  | { readonly kind: 'off' }
  /** Requested, but it could delete interfaces of another cluster. */
  | { readonly kind: 'refused'; readonly because: string; readonly remedy: string };

/** The cluster name without configuration: interfaces that carry it may belong to any cluster. */
const unconfiguredName = 'default';

export function collectionOf(
  options: Pick<Options, 'clusterName' | 'eniGcTags' | 'eniGcInterval' | 'eniGcDryRun'>,
): CollectionDecision {
  const { clusterName, eniGcTags, eniGcInterval: interval, eniGcDryRun: dryRun } = options;
  if (interval === 0) return { kind: 'off' };
  if (clusterName === unconfiguredName && Object.keys(eniGcTags).length === 0) {
    return {
      kind: 'refused',
      because: `the cluster's name is ${unconfiguredName}, as for any cluster without one: their interfaces look the same`,
      remedy:
        'set --cluster-name to a name that no other cluster of the account has (or --eni-gc-tags to tags that no other cluster sets), or --eni-gc-interval=0',
    };
  }
  return { kind: 'on', interval, dryRun };
}
