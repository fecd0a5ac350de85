// Decides where the name of the cluster comes from: the option cluster-name says it, or asks for that of a tag which the
// cloud sets on the instances of a cluster. Pure.
import { type CloudMode, cloudModes, cloudOf } from './clouds/clouds.ts';
import { text } from './value-kinds.ts';

const form = String.raw`[\w.:/@-]{1,128}`;
const inWords = '1 to 128 letters, digits and characters of . _ : / @ -';

/** Every value that asks for a tag, with the clouds that set it. */
const asking: ReadonlyMap<string, readonly CloudMode[]> = Map.groupBy(
  cloudModes.filter((mode) => nameTagOn(mode) !== undefined),
  (mode) => askingFor(nameTagOn(mode) ?? ''),
);

export const clusterName = text(
  'name',
  new RegExp(`^(${[form, ...asking.keys()].join('|')})$`),
  `${inWords}; or ${[...asking].map(([value, modes]) => `${value} with ${ipamIn(modes)}`).join(', or ')}`,
);

/** Whether the option takes it as a name. */
export function isClusterName(name: string): boolean {
  return new RegExp(`^${form}$`).test(name);
}

/** The accepted names, in words. */
export const acceptedNames = inWords;

/** The value of cluster-name that asks for the name in this tag. */
export function askingFor(tag: string): string {
  return `tag=${tag}`;
}

/** The tag of instances with the name of their cluster; undefined where the cloud sets none. */
export function nameTagOn(mode: string): string | undefined {
  return cloudOf(mode)?.nameTag;
}

/** The tag that the cluster's name is to be read from; undefined if the option says the name. */
export function askedNameTag({
  clusterName,
  ipam,
}: {
  readonly clusterName: string;
  readonly ipam: string;
}): string | undefined {
  const tag = nameTagOn(ipam);
  return tag !== undefined && clusterName === askingFor(tag) ? tag : undefined;
}

/** The clouds that set the tag which this value asks for; undefined if it is a name. */
export function cloudsAsked(clusterName: string): string | undefined {
  const modes = asking.get(clusterName);
  return modes && ipamIn(modes);
}

function ipamIn(modes: readonly CloudMode[]): string {
  return modes.map((mode) => `ipam=${mode}`).join(' and ');
}
