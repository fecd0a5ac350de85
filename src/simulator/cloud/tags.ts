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

/** Whether only the cloud itself sets and removes tags with this key. They do not count towards the limit. */
export function isReserved(key: string): boolean {
  return key.toLowerCase().startsWith('aws:');
}

/** Refuses tags that cannot be added to `present`. */
export function refuseTags(present: Tags, added: Tags): void {
  refuseReserved(Object.keys(added));
  const counted = Object.keys({ ...present, ...added }).filter((key) => !isReserved(key));
  if (counted.length > tagsPerRecord) refuse({ kind: 'tooManyTags' });
}

function refuseReserved(keys: readonly string[]): void {
  const reserved = keys.find(isReserved);
  if (reserved !== undefined) refuse({ kind: 'reservedTag', key: reserved });
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

/** Removes tags from all named records; without removals, all but reserved ones. Missing tags are no error. */
export function removeTags(
  network: CloudNetwork,
  things: readonly Tagged[],
  removals: readonly TagRemoval[] | undefined,
): void {
  refuseReserved(removals?.map(({ key }) => key) ?? []);
  const isRemoved = (key: string, value: string): boolean =>
    removals?.some((removal) => removal.key === key && (removal.value ?? value) === value) ??
    !isReserved(key);
  const remaining = (present: Tags): Tags =>
    Object.fromEntries(Object.entries(present).filter(([key, value]) => !isRemoved(key, value)));
  for (const { kind, id } of things) network.find(kind, id);
  for (const { kind, id } of things) change(network, kind, id, remaining);
}

function change(network: CloudNetwork, kind: RecordKind, id: string, update: (present: Tags) => Tags): void {
  const record = network.find(kind, id);
  network.put(kind, { ...record, tags: update(record.tags) });
}
