// Decides which tags new interfaces carry, and checks their number. Pure.
import { ownershipTags } from '../providers/orphans/ownership-tags.ts';
import type { TagLimit } from './clouds/cloud-descriptor.ts';
import { cloudOf } from './clouds/clouds.ts';
import { type OptionSources, sourceInWords } from './option-source.ts';
import type { OptionName, Options } from './option-table.ts';
import type { Tags } from './tag-map.ts';

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

/**
 * A line for each reason why the cloud would refuse the tags: every creation would fail, and no node would get an
 * interface.
 */
export function refusedTags(
  options: TagOptions & Pick<Options, 'ipam' | 'excludeInterfaceTags'>,
  sources: OptionSources,
): readonly string[] {
  const limit = cloudOf(options.ipam)?.tagLimit;
  if (limit === undefined) return [];
  return [
    ...tooManyTags(limit, options, sources),
    ...oddTags(limit, options, sources),
    ...excludedTags(options, sources),
  ];
}

/** A tag of new interfaces that marks those of other controllers; undefined if none does. */
export function excludedOwnTag(
  options: TagOptions & Pick<Options, 'excludeInterfaceTags'>,
): readonly [key: string, value: string] | undefined {
  const own = new Map(Object.entries(interfaceTags(options)));
  return Object.entries(options.excludeInterfaceTags).find(([key, value]) => own.get(key) === value);
}

function excludedTags(
  options: TagOptions & Pick<Options, 'excludeInterfaceTags'>,
  sources: OptionSources,
): readonly string[] {
  const excluded = excludedOwnTag(options);
  if (excluded === undefined) return [];
  const option = 'exclude-interface-tags';
  const from = sourceInWords(option, sources[option]);
  return [
    `${option}: the interfaces that Headwater creates carry ${JSON.stringify(excluded.join('='))} (${from}); accepted: tags of other interfaces`,
  ];
}

function oddTags({ cloud, form }: TagLimit, options: TagOptions, sources: OptionSources): readonly string[] {
  const given: readonly (readonly [OptionName, Tags])[] = [
    ['eni-tags', options.eniTags],
    [Object.keys(options.eniGcTags).length > 0 ? 'eni-gc-tags' : 'cluster-name', belongingTags(options)],
  ];
  return given.flatMap(([option, tags]) => {
    const odd = Object.entries(tags).find(([key, value]) => form?.accepts(key, value) === false);
    if (form === undefined || odd === undefined) return [];
    const from = sourceInWords(option, sources[option]);
    return [
      `${option}: ${cloud} refuses the tag ${JSON.stringify(odd[0])} (${from}); accepted: ${form.words}`,
    ];
  });
}

function tooManyTags(limit: TagLimit, options: TagOptions, sources: OptionSources): readonly string[] {
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
