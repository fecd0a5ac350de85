// Tracks which manager set which fields of an object, in `metadata.managedFields`. Coarser than a real API server: fields
// are distinguished down to the third level, below `pools` to the fourth, and everything below belongs to each manager that set a
// part of it.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
import { isJsonObject, type JsonObject, type JsonValue, sameJson } from '../json-value.ts';
import type { KubernetesObject, ManagedFields } from './kubernetes-object.ts';

export interface FieldWriter {
  readonly manager: string;
  /** Empty for the object itself. */
  readonly subresource: string;
}

/** The value of each distinguished field, by its path. */
type Leaves = ReadonlyMap<string, JsonValue>;

/** Agents set what they request of pools, and others what they get. */
const depthOf = ([, , third]: readonly string[]): number => (third === 'f:pools' ? 4 : 3);
/** No field name holds it. */
const separator = '\0';
const maxManagerCharacters = 128;
/** Fields of the metadata that clients may set at will. */
const settableMetadata: readonly string[] = ['annotations', 'finalizers', 'labels', 'ownerReferences'];

/** The name that a client gives itself, or its program's by the user agent. */
export function managerOf(fieldManager: string | null, userAgent = ''): string {
  const [program = ''] = userAgent.split('/');
  return fieldManager || program.replaceAll(/\p{C}/gu, '').slice(0, maxManagerCharacters) || 'unknown';
}

/** The entries after a write at `time` that made `next` of `current`, which is undefined where it made the object. */
export function managedAfter(
  current: KubernetesObject | undefined,
  next: KubernetesObject,
  { manager, subresource, time }: FieldWriter & { readonly time: string },
): readonly ManagedFields[] {
  const before = current === undefined ? new Map<string, JsonValue>() : leavesOf(current);
  const after = leavesOf(next);
  const known = current?.metadata.managedFields ?? [];
  const changed = new Set(
    [...before, ...after].flatMap(([path]) => (isSame(path, before, after) ? [] : [path])),
  );
  if (changed.size === 0) return known;
  const { apiVersion } = next;
  const isWriter = (entry: ManagedFields): boolean =>
    entry.manager === manager && entry.apiVersion === apiVersion && (entry.subresource ?? '') === subresource;
  const gained = [...changed].filter((path) => gains(before.get(path), after.get(path)));
  const own = known.find(isWriter);
  const kept = own === undefined ? [] : pathsIn(own.fieldsV1).filter((path) => after.has(path));
  const others = known
    .filter((entry) => !isWriter(entry))
    .map((entry) =>
      withPaths(
        entry,
        pathsIn(entry.fieldsV1).filter((path) => staysOthers(path, changed, after)),
      ),
    );
  const ours: ManagedFields = {
    manager,
    operation: 'Update',
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: fieldsOf([...kept, ...gained]),
    ...(subresource !== '' && { subresource }),
  };
  return [...others, ours]
    .filter(({ fieldsV1 }) => Object.keys(fieldsV1).length > 0)
    .toSorted(inServersOrder);
}

/** A value belongs to the manager that set it last; other managers may have set the rest of a map or list. */
function staysOthers(path: string, changed: ReadonlySet<string>, after: Leaves): boolean {
  const value = after.get(path);
  if (value === undefined) return false;
  return !changed.has(path) || (typeof value === 'object' && value !== null);
}

/** Whether something was set, rather than only taken away. */
function gains(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  if (after === undefined || sameJson(before, after)) return false;
  if (!isJsonObject(after) || !isJsonObject(before)) return true;
  return Object.entries(after).some(([name, value]) => gains(before[name], value));
}

function isSame(path: string, before: Leaves, after: Leaves): boolean {
  return sameJson(before.get(path), after.get(path));
}

function leavesOf({ apiVersion: _version, kind: _kind, metadata, ...rest }: KubernetesObject): Leaves {
  const settable = Object.entries(metadata).filter(([name]) => settableMetadata.includes(name));
  const leaves = new Map<string, JsonValue>();
  collect({ ...rest, ...(settable.length > 0 && { metadata: Object.fromEntries(settable) }) }, [], leaves);
  return leaves;
}

function collect(value: JsonValue, path: readonly string[], leaves: Map<string, JsonValue>): void {
  if (path.length >= depthOf(path) || !isJsonObject(value) || Object.keys(value).length === 0) {
    if (path.length > 0) leaves.set(path.join(separator), value);
    return;
  }
  for (const [name, member] of Object.entries(value)) collect(member, [...path, `f:${name}`], leaves);
}

function pathsIn(fields: JsonObject, path: readonly string[] = []): string[] {
  return Object.entries(fields).flatMap(([name, below]) => {
    const own = [...path, name];
    return isJsonObject(below) && Object.keys(below).length > 0 ? pathsIn(below, own) : [own.join(separator)];
  });
}

function withPaths(entry: ManagedFields, paths: readonly string[]): ManagedFields {
  return { ...entry, fieldsV1: fieldsOf(paths) };
}

interface Nested {
  [name: string]: Nested;
}

function fieldsOf(paths: readonly string[]): JsonObject {
  const root: Nested = {};
  for (const path of paths) {
    let at = root;
    for (const name of path.split(separator)) at = at[name] ??= {};
  }
  return root;
}

function inServersOrder(a: ManagedFields, b: ManagedFields): number {
  const [first, second] = [a, b].map(({ time, manager, apiVersion, subresource = '' }) =>
    [time, manager, apiVersion, subresource].join(separator),
  );
  return (first ?? '') < (second ?? '') ? -1 : 1;
}
