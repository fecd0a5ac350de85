// Serves classic discovery, group by group.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
import { type JsonObject, type JsonValue } from '../json-value.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';

const builtInVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const subresourceVerbs: Readonly<Record<string, readonly string[]>> = {
  binding: ['create'],
  finalize: ['update'],
  status: ['get', 'patch', 'update'],
};

/** The verbs of a resource. */
export function verbsOf(type: ResourceType): readonly string[] {
  if (type.custom) return customVerbs;
  return type.collection === 'namespaces'
    ? builtInVerbs.filter((verb) => verb !== 'deletecollection')
    : builtInVerbs;
}

/** The verbs of a subresource. */
export function verbsOfSubresource(name: string): readonly string[] {
  return subresourceVerbs[name] ?? [];
}

/** The group names of the types, in order of first appearance. */
export function groupsOf(types: readonly ResourceType[]): readonly string[] {
  return [...new Set(types.map(({ names }) => names.group))].filter((group) => group !== '');
}

export function versionsOf(types: readonly ResourceType[], group: string): readonly string[] {
  return [...new Set(types.filter(({ names }) => names.group === group).map(({ names }) => names.version))];
}

/** `/api`. */
export function coreVersions(types: readonly ResourceType[]): JsonObject {
  return { kind: 'APIVersions', versions: versionsOf(types, ''), serverAddressByClientCIDRs: [] };
}

/** `/apis`. */
export function groupList(types: readonly ResourceType[]): JsonObject {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groupsOf(types).map((group) => groupEntry(types, group)),
  };
}

/** `/apis/<group>`. */
export function groupDocument(types: readonly ResourceType[], group: string): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(types, group) };
}

function groupEntry(types: readonly ResourceType[], group: string): JsonObject {
  const versions = versionsOf(types, group).map((version) => ({
    groupVersion: `${group}/${version}`,
    version,
  }));
  return { name: group, versions, preferredVersion: versions[0] ?? null };
}

/** `/api/v1`, `/apis/<group>/<version>`; undefined if nothing is served there. */
export function resourceList(
  types: readonly ResourceType[],
  group: string,
  version: string,
): JsonObject | undefined {
  const served = types.filter(({ names }) => names.group === group && names.version === version);
  const [first] = served;
  if (first === undefined) return undefined;
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(first.names),
    resources: served.flatMap(resourceEntries),
  };
}

function resourceEntries(type: ResourceType): readonly JsonValue[] {
  const { plural, singular, kind, shortNames, categories } = type.names;
  const common = { namespaced: type.namespaced, kind };
  return [
    {
      name: plural,
      singularName: singular,
      ...common,
      verbs: verbsOf(type),
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
    },
    ...Object.keys(type.subresources).map((name) => ({
      name: `${plural}/${name}`,
      singularName: '',
      ...common,
      verbs: verbsOfSubresource(name),
    })),
  ];
}
