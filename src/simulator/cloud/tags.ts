// Tags on any kind of record.
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import type { RecordKind, Tags } from './records.ts';

/** Maximum tags per resource (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html). */
const tagsPerRecord = 50;

/** Record kinds with tags, by id prefix. */
const kinds: ReadonlyMap<string, RecordKind> = new Map([
  ['vpc', 'vpcs'],
  ['subnet', 'subnets'],
  ['scr', 'reservations'],
  ['rtb', 'routeTables'],
  ['sg', 'groups'],
  ['eipalloc', 'publicAddresses'],
  ['i', 'instances'],
  ['eni', 'interfaces'],
]);

/** The kind of record that an id names. */
export function kindOfId(id: string): RecordKind | undefined {
  return kinds.get(id.slice(0, id.lastIndexOf('-')));
}

export interface Tagged {
  readonly kind: RecordKind;
  readonly id: string;
}

/** Refuses tags that cannot be added to `present`. */
export function refuseTags(present: Tags, added: Tags): void {
  const reserved = Object.keys(added).find((key) => key.toLowerCase().startsWith('aws:'));
  if (reserved !== undefined) refuse({ kind: 'reservedTag', key: reserved });
  if (Object.keys({ ...present, ...added }).length > tagsPerRecord) refuse({ kind: 'tooManyTags' });
}

/** Adds tags to all named records, or to none. */
export function addTags(network: CloudNetwork, things: readonly Tagged[], tags: Tags): void {
  for (const { kind, id } of things) refuseTags(network.find(kind, id).tags, tags);
  for (const { kind, id } of things) change(network, kind, id, (present) => ({ ...present, ...tags }));
}

/** Tags to remove: a key with any value, or with a given one. */
export interface TagRemoval {
  readonly key: string;
  readonly value?: string | undefined;
}

/** Removes tags from all named records; without removals, all tags. Missing tags are no error. */
export function removeTags(
  network: CloudNetwork,
  things: readonly Tagged[],
  removals: readonly TagRemoval[] | undefined,
): void {
  const isRemoved = (key: string, value: string): boolean =>
    removals?.some((removal) => removal.key === key && (removal.value ?? value) === value) ?? true;
  const remaining = (present: Tags): Tags =>
    Object.fromEntries(Object.entries(present).filter(([key, value]) => !isRemoved(key, value)));
  for (const { kind, id } of things) network.find(kind, id);
  for (const { kind, id } of things) change(network, kind, id, remaining);
}

function change(network: CloudNetwork, kind: RecordKind, id: string, update: (present: Tags) => Tags): void {
  const record = network.find(kind, id);
  network.put(kind, { ...record, tags: update(record.tags) });
}
