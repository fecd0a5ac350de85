// Decides whether an interface belongs to the cluster that Headwater reads. An empty list of CiliumNodes, or that of
// another cluster, does not prove that an interface is orphaned.
import type { NodeFigures } from '../../node/reconcile/node-summary.ts';
import { carries, type NetworkInterface, type Tags } from '../../providers/contract/network-interface.ts';
import { instanceTag } from '../../providers/orphans/ownership-tags.ts';

/**
 * Returns a check of whether an interface belongs to this cluster, from current knowledge. It does if it was created
 * for one of the cluster's instances.
 *
 * An interface created for another instance belongs to it under two conditions. The cloud shows some instance in its
 * network, and interfaces created for shown instances carry the same ownership tags. Otherwise the tags name another
 * cluster than the one Headwater reads.
 */
export function clusterEvidence(
  nodes: readonly Pick<NodeFigures, 'view'>[],
  belongingTags: Tags,
): (item: NetworkInterface) => boolean {
  const views = nodes.flatMap(({ view }) => view ?? []);
  const shown = views.filter(({ presence }) => presence === 'shown');
  if (shown.length === 0) return () => false;
  // An agent may write any network and any tags into its CiliumNode.
  const seen = shown.map(({ id, interfaces, unseen }) => ({
    id,
    interfaces: unseen.size === 0 ? interfaces : interfaces.filter((item) => !unseen.has(item.id)),
  }));
  const made = seen.flatMap(({ id, interfaces }) => interfaces.filter((item) => isMadeFor(item, id)));
  const isThisCluster = made.length === 0 || made.some(({ tags }) => carries(tags, belongingTags));
  const networkIds = new Set(seen.flatMap(({ interfaces }) => interfaces.map((item) => item.networkId)));
  return (item) =>
    views.some(({ id }) => isMadeFor(item, id)) || (isThisCluster && networkIds.has(item.networkId));
}

/** cilium-operator names the instance only in the description. */
function isMadeFor({ tags, description }: NetworkInterface, instanceId: string): boolean {
  return tags[instanceTag] === instanceId || description.includes(`(${instanceId})`);
}
