// Serves the OpenAPI documents, as far as clients need them to check write parameters and explain fields.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
import type { JsonObject } from '../json-value.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';

const documentOf = (group: string, version: string): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

/**
 * `/openapi/v2`, which kubectl reads as Protocol Buffers if version 3 lacks a kind. The shortest valid
 * document: its version alone.
 */
export const openApiV2Document = '\n\u00032.0';

/** `/openapi/v3`: the path of each group and version's document. */
export function openApiIndex(types: readonly ResourceType[]): JsonObject {
  const documents = [...new Set(types.map(({ names }) => documentOf(names.group, names.version)))];
  const entries = documents.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}` }] as const);
  return { paths: Object.fromEntries(entries) };
}

/** `/openapi/v3/<document>`; undefined if nothing is served there. */
export function openApiDocument(types: readonly ResourceType[], document: string): JsonObject | undefined {
  const served = types.filter(({ names }) => documentOf(names.group, names.version) === document);
  if (served.length === 0) return undefined;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1' },
    paths: Object.assign({}, ...served.map((type) => pathsOf(type, document))) as JsonObject,
    components: { schemas: Object.fromEntries(served.map((type) => [schemaName(type), schemaOf(type)])) },
  };
}

const queryParameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
  name,
  in: 'query',
  schema: { type: name === 'force' ? 'boolean' : 'string', uniqueItems: true },
}));

function pathsOf(type: ResourceType, document: string): JsonObject {
  const { plural } = type.names;
  const collection = `/${document}/${type.namespaced ? 'namespaces/{namespace}/' : ''}${plural}`;
  return {
    [collection]: { get: operation(type, 'list'), post: operation(type, 'post') },
    [`${collection}/{name}`]: {
      get: operation(type, 'get'),
      put: operation(type, 'put'),
      patch: operation(type, 'patch'),
      delete: operation(type, 'delete'),
    },
  };
}

function operation(type: ResourceType, action: string): JsonObject {
  const schema = { $ref: `#/components/schemas/${schemaName(type)}` };
  return {
    parameters: queryParameters,
    responses: { '200': { description: 'OK', content: { 'application/json': { schema } } } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': versionKind(type),
  };
}

function versionKind({ names: { group, version, kind } }: ResourceType): JsonObject {
  return { group, version, kind };
}

/** The group with its parts reversed, as the server names its schemas. */
function schemaName({ names: { group, version, kind } }: ResourceType): string {
  const prefix = group === '' ? 'io.k8s.api.core' : group.split('.').toReversed().join('.');
  return `${prefix}.${version}.${kind}`;
}

function schemaOf(type: ResourceType): JsonObject {
  return {
    ...(type.documentation ?? {
      type: 'object',
      description: `${apiVersionOf(type.names)} ${type.names.kind}`,
    }),
    'x-kubernetes-group-version-kind': [versionKind(type)],
  };
}
