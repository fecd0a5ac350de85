// Checks rules between several options. Pure; each option alone is already valid.
import { cloudOf } from './clouds/clouds.ts';
import { acceptedNames, askedNameTag, cloudsAsked } from './cluster-name.ts';
import { formatDuration } from './go-duration.ts';
import { type OptionSources, refusalLine, sourceInWords } from './option-source.ts';
import { type OptionName, type Options, propertyOf } from './option-table.ts';

/** Room for jitter: k8s.io/client-go/tools/leaderelection requires the same of its callers. */
const jitterFactor = 1.2;

type Timing = Extract<
  OptionName,
  'leader-election-lease-duration' | 'leader-election-renew-deadline' | 'leader-election-retry-period'
>;

interface Bound {
  readonly name: Timing;
  /** `name`, multiplied, must stay below this option. */
  readonly limit: Timing;
  readonly factor: number;
}

/** A leader must notice a failed renewal before another may take over, and must have tried more than once. */
export const timingBounds: readonly Bound[] = [
  { name: 'leader-election-renew-deadline', limit: 'leader-election-lease-duration', factor: 1 },
  { name: 'leader-election-retry-period', limit: 'leader-election-renew-deadline', factor: jitterFactor },
];

/** A line for each broken rule. */
export function crossValidate(options: Options, sources: OptionSources): readonly string[] {
  return [
    ...brokenTimings(options, sources),
    ...foreignSubnets(options, sources),
    ...idWithoutRole(options, sources),
    ...foreignNameTag(options, sources),
  ];
}

function idWithoutRole(
  { networkAccountRoleArn: role, networkAccountExternalId: text }: Options,
  sources: OptionSources,
): readonly string[] {
  if (role !== undefined || text === undefined) return [];
  const name = 'network-account-external-id';
  return [refusalLine({ name, source: sources[name], text, accepted: 'used with network-account-role-arn' })];
}

/** No subnet would ever match an id of another cloud. */
function foreignSubnets({ ipam, subnetIdsFilter }: Options, sources: OptionSources): readonly string[] {
  const start = cloudOf(ipam)?.subnetIdStart;
  const foreign = subnetIdsFilter.find((id) => start !== undefined && !id.startsWith(start));
  if (foreign === undefined) return [];
  const name = 'subnet-ids-filter';
  const accepted = `with ipam=${ipam}, ids that start with ${start}`;
  return [refusalLine({ name, source: sources[name], text: foreign, accepted })];
}

/** No instance of another cloud carries the tag with the name. */
function foreignNameTag(options: Options, sources: OptionSources): readonly string[] {
  const clouds = cloudsAsked(options.clusterName);
  if (clouds === undefined || askedNameTag(options) !== undefined) return [];
  const name = 'cluster-name';
  const because = `only instances of ${clouds} carry that tag`;
  const accepted = `with ipam=${options.ipam}, the name itself: ${acceptedNames}`;
  return [refusalLine({ name, source: sources[name], text: options.clusterName, because, accepted })];
}

function brokenTimings(options: Options, sources: OptionSources): readonly string[] {
  const valueOf = (name: Timing): number => options[propertyOf(name)] as number;

  return timingBounds
    .filter(({ name, limit, factor }) => valueOf(name) * factor >= valueOf(limit))
    .map(({ name, limit, factor }) => {
      const less = factor === 1 ? 'less than' : `a duration that multiplied by ${factor} is less than`;
      const other = `${limit}, which is ${formatDuration(valueOf(limit))} (${sourceInWords(limit, sources[limit])})`;
      const text = formatDuration(valueOf(name));
      return refusalLine({ name, source: sources[name], text, accepted: `${less} ${other}` });
    });
}
