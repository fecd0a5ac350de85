// Answers paths that are not resources: health, version, discovery, OpenAPI.
import type { KubernetesRequest, KubernetesResponse } from '../exchange.ts';
import { noSuchResource } from '../api-status.ts';
import { aggregatedDiscovery, aggregatedForm } from '../discovery/aggregated-discovery.ts';
import { coreVersions, groupDocument, groupList, groupsOf, resourceList } from '../discovery/discovery.ts';
import { openApiDocument, openApiIndex, openApiV2Document } from '../discovery/openapi.ts';
import type { JsonObject } from '../json-value.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { jsonAnswer, nothingThere, textAnswer, withHeaders } from './answers.ts';

/** The modelled server version. */
export const serverVersion = {
  major: '1',
  minor: '32',
  gitVersion: 'v1.32.13',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: '',
};

const healthPaths: readonly string[] = ['healthz', 'livez', 'readyz'];

/** Throws `StatusError` for core versions that are not served. */
export function servePath(
  path: string,
  request: KubernetesRequest,
  types: readonly ResourceType[],
): KubernetesResponse {
  const [first = '', ...rest] = path.split('/').filter((part) => part !== '');
  switch (first) {
    case '':
      return jsonAnswer(200, { paths: rootPaths(types) });
    case 'version':
      return jsonAnswer(200, serverVersion);
    case 'api':
    case 'apis':
      return serveDiscovery(first, rest, request, types);
    case 'openapi':
      return rest.join('/') === 'v2' ? openApiV2() : documentOr404(openApi(rest, types));
    default:
      return healthPaths.includes(first) ? textAnswer(200, 'ok') : nothingThere();
  }
}

function rootPaths(types: readonly ResourceType[]): readonly string[] {
  const versions = types.map(({ names: { group, version } }) =>
    group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
  );
  const groups = groupsOf(types).map((group) => `/apis/${group}`);
  return [
    ...new Set([
      '/api',
      '/apis',
      '/healthz',
      '/livez',
      '/openapi/v3',
      '/readyz',
      '/version',
      ...groups,
      ...versions,
    ]),
  ].toSorted();
}

function serveDiscovery(
  prefix: 'api' | 'apis',
  rest: readonly string[],
  request: KubernetesRequest,
  types: readonly ResourceType[],
): KubernetesResponse {
  const form = rest.length === 0 ? aggregatedForm(request.headers['accept']) : undefined;
  if (form !== undefined) {
    const answer = jsonAnswer(200, aggregatedDiscovery(types, prefix === 'api', form.version));
    return withHeaders(answer, { 'content-type': form.contentType });
  }
  return prefix === 'api' ? serveCore(rest, types) : documentOr404(groupDiscovery(rest, types));
}

function serveCore([version]: readonly string[], types: readonly ResourceType[]): KubernetesResponse {
  if (version === undefined) return jsonAnswer(200, coreVersions(types));
  const list = resourceList(types, '', version);
  if (list === undefined) throw noSuchResource();
  return jsonAnswer(200, list);
}

function groupDiscovery(
  [group, version]: readonly string[],
  types: readonly ResourceType[],
): JsonObject | undefined {
  if (group === undefined) return groupList(types);
  if (version !== undefined) return resourceList(types, group, version);
  return groupsOf(types).includes(group) ? groupDocument(types, group) : undefined;
}

function openApi(
  [version, ...document]: readonly string[],
  types: readonly ResourceType[],
): JsonObject | undefined {
  if (version !== 'v3') return undefined;
  return document.length === 0 ? openApiIndex(types) : openApiDocument(types, document.join('/'));
}

function openApiV2(): KubernetesResponse {
  const type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
  return { status: 200, headers: { 'content-type': type }, body: openApiV2Document };
}

function documentOr404(document: JsonObject | undefined): KubernetesResponse {
  return document === undefined ? nothingThere() : jsonAnswer(200, document);
}
