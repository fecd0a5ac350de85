// Serves aggregated discovery: all groups in one document, as current kubectl requests it.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
import type { JsonObject } from '../json-value.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { acceptClauses, isJsonType } from '../serving/media-types.ts';
import { groupsOf, verbsOf, verbsOfSubresource, versionsOf } from './discovery.ts';

export interface AggregatedForm {
  readonly version: string;
  readonly contentType: string;
}

/** The aggregated form that a client prefers; undefined if it wants the classic documents. */
export function aggregatedForm(accept: string | undefined): AggregatedForm | undefined {
  const [first] = acceptClauses(accept ?? '').filter(({ mediaType }) => isJsonType(mediaType));
  const { as, g, v = '' } = first?.parameters ?? {};
  if (as !== 'APIGroupDiscoveryList' || g !== 'apidiscovery.k8s.io' || !['v2', 'v2beta1'].includes(v))
    return undefined;
  return { version: v, contentType: `application/json;g=${g};v=${v};as=${as}` };
}

/** `/api` if `core`, else `/apis`. */
export function aggregatedDiscovery(
  types: readonly ResourceType[],
  core: boolean,
  version: string,
): JsonObject {
  const groups = core ? [''] : groupsOf(types);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map((group) => ({
      metadata: { ...(group === '' ? {} : { name: group }), creationTimestamp: null },
      versions: versionsOf(types, group).map((groupVersion) => ({
        version: groupVersion,
        resources: types
          .filter(({ names }) => names.group === group && names.version === groupVersion)
          .map(resourceEntry),
        freshness: 'Current',
      })),
    })),
  };
}

function resourceEntry(type: ResourceType): JsonObject {
  const { plural, singular, shortNames, categories } = type.names;
  const subresources = Object.keys(type.subresources).map((subresource) => ({
    subresource,
    responseKind: responseKind(type),
    verbs: verbsOfSubresource(subresource),
  }));
  return {
    resource: plural,
    responseKind: responseKind(type),
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(type),
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

/** For built-in kinds, clients assume the group and version of the list. */
function responseKind({ custom, names }: ResourceType): JsonObject {
  const { group, version, kind } = names;
  return custom ? { group, version, kind } : { group: '', version: '', kind };
}
