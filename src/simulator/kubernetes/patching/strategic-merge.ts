// Strategic merge patch for built-in resources: like a merge patch, but lists with keyed items merge by key.
// https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sameJson,
  withoutFields,
} from '../json-value.ts';

/** How a list merges: by the key of its items, or as a set of plain values. */
type ListRule = { readonly kind: 'keyed'; readonly key: string } | { readonly kind: 'set' };

const keyed = (key: string): ListRule => ({ kind: 'keyed', key });

const metadataLists: Readonly<Record<string, ListRule>> = {
  'metadata.ownerReferences': keyed('uid'),
  'metadata.finalizers': { kind: 'set' },
};

const containerLists = (path: string): Readonly<Record<string, ListRule>> => ({
  [path]: keyed('name'),
  [`${path}.env`]: keyed('name'),
  [`${path}.ports`]: keyed('containerPort'),
  [`${path}.volumeMounts`]: keyed('mountPath'),
  [`${path}.volumeDevices`]: keyed('devicePath'),
});

const listsByKind: Readonly<Record<string, Readonly<Record<string, ListRule>>>> = {
  Namespace: { 'status.conditions': keyed('type') },
  Node: {
    'spec.podCIDRs': { kind: 'set' },
    'status.addresses': keyed('type'),
    'status.conditions': keyed('type'),
  },
  Pod: {
    ...containerLists('spec.containers'),
    ...containerLists('spec.initContainers'),
    ...containerLists('spec.ephemeralContainers'),
    'spec.hostAliases': keyed('ip'),
    'spec.imagePullSecrets': keyed('name'),
    'spec.resourceClaims': keyed('name'),
    'spec.schedulingGates': keyed('name'),
    'spec.topologySpreadConstraints': keyed('topologyKey'),
    'spec.volumes': keyed('name'),
    'status.conditions': keyed('type'),
    'status.hostIPs': keyed('ip'),
    'status.podIPs': keyed('ip'),
  },
};

/** `target`, of kind `kind`, after `patch`; mutates neither. */
export function strategicMerge(target: JsonObject, patch: JsonObject, kind: string): JsonObject {
  return mergeFields(target, patch, { path: '', rules: { ...metadataLists, ...listsByKind[kind] } });
}

interface Place {
  readonly path: string;
  readonly rules: Readonly<Record<string, ListRule>>;
}

const deletionPrefix = '$deleteFromPrimitiveList/';

function mergeFields(target: JsonObject, patch: JsonObject, place: Place): JsonObject {
  const directive = patch['$patch'];
  const plain = withoutFields(patch, '$patch');
  if (directive === 'replace') return plain;
  if (directive === 'delete') return {};
  const merged: Record<string, JsonValue> = { ...target };
  for (const [name, value] of Object.entries(plain)) {
    if (name.startsWith(deletionPrefix)) {
      const field = name.slice(deletionPrefix.length);
      merged[field] = without(merged[field], value);
    } else if (value === null) delete merged[name];
    else if (!name.startsWith('$')) merged[name] = mergeValue(merged[name], value, inside(place, name));
  }
  return retained(merged, plain['$retainKeys']);
}

function inside({ path, rules }: Place, name: string): Place {
  return { path: path === '' ? name : `${path}.${name}`, rules };
}

function retained(merged: JsonObject, keys: JsonValue | undefined): JsonObject {
  if (!isJsonArray(keys)) return merged;
  return Object.fromEntries(Object.entries(merged).filter(([name]) => keys.includes(name)));
}

function without(list: JsonValue | undefined, values: JsonValue): JsonValue {
  if (!isJsonArray(list) || !isJsonArray(values)) return list ?? [];
  return list.filter((item) => !values.some((value) => sameJson(value, item)));
}

function mergeValue(target: JsonValue | undefined, patch: JsonValue, place: Place): JsonValue {
  if (isJsonObject(patch)) return mergeFields(isJsonObject(target) ? target : {}, patch, place);
  const rule = isJsonArray(patch) ? place.rules[place.path] : undefined;
  if (rule === undefined || !isJsonArray(patch)) return patch;
  const current = isJsonArray(target) ? target : [];
  return rule.kind === 'set' ? union(current, patch) : mergeItems(current, patch, rule.key, place);
}

function union(current: readonly JsonValue[], added: readonly JsonValue[]): readonly JsonValue[] {
  return [...current, ...added.filter((item) => !current.some((known) => sameJson(known, item)))];
}

function mergeItems(
  current: readonly JsonValue[],
  patch: readonly JsonValue[],
  key: string,
  place: Place,
): readonly JsonValue[] {
  const objects = patch.filter(isJsonObject);
  const changes = objects.filter((item) => item['$patch'] !== 'replace' || Object.hasOwn(item, key));
  if (changes.length < objects.length) return changes;
  const keyOf = (item: JsonValue): JsonValue | undefined => (isJsonObject(item) ? item[key] : undefined);
  const indexOf = (item: JsonObject): number =>
    current.findIndex((known) => sameJson(keyOf(known), item[key]));
  const touched = new Set(changes.map(indexOf));
  const merged = changes
    .filter((item) => item['$patch'] !== 'delete')
    .map((item) => {
      const index = indexOf(item);
      return { index, item: mergeValue(current[index], item, place) };
    });
  const untouched = current
    .map((item, index) => ({ index, item }))
    .filter(({ index }) => !touched.has(index));
  return interleaved(merged, untouched);
}

interface Placed {
  /** Previous index of the item, -1 for a new one. */
  readonly index: number;
  readonly item: JsonValue;
}

/** Changed items keep the patch's order and others their own. If neither decides, changed items come first. */
function interleaved(merged: readonly Placed[], untouched: readonly Placed[]): readonly JsonValue[] {
  const rest = [...untouched];
  const result: JsonValue[] = [];
  for (const { index, item } of merged) {
    while (rest[0] !== undefined && rest[0].index < index)
      result.push(...rest.splice(0, 1).map((other) => other.item));
    result.push(item);
  }
  return [...result, ...rest.map(({ item }) => item)];
}
