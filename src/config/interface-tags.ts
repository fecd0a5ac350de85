// Decides which tags new interfaces carry, and checks their number. Pure.
import { ownershipTags } from '../providers/orphans/ownership-tags.ts';
import { type OptionSources, sourceInWords } from './option-source.ts';
import type { OptionName, Options } from './option-table.ts';
import type { Tags } from './tag-map.ts';

interface TagLimit {
  /** The tags of one resource. */
  readonly max: number;
  /** The number of those that the cloud's provider adds. */
  readonly added: number;
  readonly cloud: string;
}

/**
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions and
 * https://www.alibabacloud.com/help/ecs/user-guide/tag-overview. Other clouds get no interfaces from us.
 */
const tagLimits: { readonly [Mode in Options['ipam']]?: TagLimit } = {
  eni: { max: 50, added: 0, cloud: 'EC2' },
  alibabacloud: { max: 20, added: 1, cloud: 'ECS' },
};

type TagOptions = Pick<Options, 'eniTags' | 'eniGcTags' | 'clusterName'>;

/** The tags that mark interfaces of this cluster. */
export function belongingTags({ eniGcTags, clusterName }: TagOptions): Tags {
  if (Object.keys(eniGcTags).length > 0) return eniGcTags;
  return { 'io.cilium/cilium-managed': 'true', 'io.cilium/cluster-name': clusterName };
}

/** The tags of every new interface, except those that name its instance and creation. */
export function interfaceTags(options: TagOptions): Tags {
  return { ...options.eniTags, ...belongingTags(options) };
}

/** One line if there are more tags than the cloud accepts: every creation would fail, and no node would get an interface. */
export function tooManyTags(
  options: TagOptions & Pick<Options, 'ipam'>,
  sources: OptionSources,
): readonly string[] {
  const limit = tagLimits[options.ipam];
  if (limit === undefined) return [];
  const { max, added, cloud } = limit;
  const given: OptionName = Object.keys(options.eniTags).length > 0 ? 'eni-tags' : 'eni-gc-tags';
  const count = Object.keys({ ...interfaceTags(options), ...ownershipTags('', '') }).length + added;
  if (count <= max) return [];
  const own = Object.keys(given === 'eni-tags' ? options.eniTags : options.eniGcTags).length;
  const from = sourceInWords(given, sources[given]);
  return [
    `${given}: ${count} tags for each new interface, those that Headwater sets included, are refused (${from}); accepted: at most ${own - (count - max)} in this option, because ${cloud} takes ${max}`,
  ];
}
