// Builds answers in the form that the client requested: an object, a page of a list or a refusal.
import type { KubernetesResponse } from '../exchange.ts';
import { notAcceptable, type StatusError } from '../api-status.ts';
import { definedFields, type JsonObject, type JsonValue, withoutFields } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { type IncludedObject, partialMetadata, tableOf } from '../printing/table.ts';
import type { ListPage } from '../reading/read-objects.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import type { Representation } from './media-types.ts';

export interface Form {
  readonly type: ResourceType;
  readonly representation: Representation;
  readonly included: IncludedObject;
  /** Ms since the epoch. */
  readonly now: number;
}

export function jsonAnswer(status: number, value: JsonValue): KubernetesResponse {
  return new JsonAnswer(status, value);
}

/** Serializes its value only if the text is read. */
class JsonAnswer implements KubernetesResponse {
  readonly status: number;
  readonly headers: KubernetesResponse['headers'];
  readonly value: JsonValue;

  constructor(status: number, value: JsonValue, headers: KubernetesResponse['headers'] = {}) {
    this.status = status;
    this.headers = { 'content-type': 'application/json', ...headers };
    this.value = value;
  }

  get body(): string {
    return `${JSON.stringify(this.value)}\n`;
  }
}

export function textAnswer(status: number, body: string): KubernetesResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}

/** The same answer with additional headers. */
export function withHeaders(
  answer: KubernetesResponse,
  headers: KubernetesResponse['headers'],
): KubernetesResponse {
  const { status, value } = answer;
  const all = { ...answer.headers, ...headers };
  return value === undefined
    ? { status, headers: all, body: answer.body }
    : new JsonAnswer(status, value, all);
}

export function refusal(error: StatusError): KubernetesResponse {
  const answer = jsonAnswer(error.code, error.status);
  if (error.retryAfterSeconds === undefined) return answer;
  return withHeaders(answer, { 'retry-after': String(error.retryAfterSeconds) });
}

/** The router's answer for an unknown path. */
export function nothingThere(): KubernetesResponse {
  return textAnswer(404, '404 page not found\n');
}

/** Throws `StatusError` if the form is only for lists. */
export function objectAnswer(status: number, object: JsonObject, form: Form): KubernetesResponse {
  return jsonAnswer(status, object['kind'] === 'Status' ? object : formed(object as KubernetesObject, form));
}

function formed(object: KubernetesObject, { type, representation, included, now }: Form): JsonObject {
  switch (representation) {
    case 'object':
      return object;
    case 'PartialObjectMetadata':
      return partialMetadata(object);
    case 'Table': {
      const metadata = definedFields({ resourceVersion: object.metadata.resourceVersion });
      return tableOf([object], metadata, { columns: type.columns, included, now, headers: true });
    }
    case 'PartialObjectMetadataList':
      throw notAcceptable(
        'you requested PartialObjectMetadataList, but the requested object is not a list (*unstructured.Unstructured)',
      );
  }
}

/** Throws `StatusError` if the form is only for single objects. */
export function listAnswer(page: ListPage, form: Form): KubernetesResponse {
  const { type, representation, included, now } = form;
  const metadata = listMetadata(page);
  switch (representation) {
    case 'object':
      return jsonAnswer(200, plainList(page, type, metadata));
    case 'Table':
      return jsonAnswer(
        200,
        tableOf(page.items, metadata, { columns: type.columns, included, now, headers: true }),
      );
    case 'PartialObjectMetadataList': {
      const items = page.items.map(partialMetadata);
      return jsonAnswer(200, { kind: representation, apiVersion: 'meta.k8s.io/v1', metadata, items });
    }
    case 'PartialObjectMetadata':
      throw notAcceptable(
        'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)',
      );
  }
}

function listMetadata({ resourceVersion, continueToken, remaining }: ListPage): JsonObject {
  return definedFields({
    resourceVersion,
    continue: continueToken === '' ? undefined : continueToken,
    remainingItemCount: remaining,
  });
}

/** Items of built-in lists omit kind and version; those of custom lists have them. */
function plainList(page: ListPage, type: ResourceType, metadata: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(type.names);
  const kind = type.names.listKind;
  if (type.custom) return { apiVersion, items: page.items, kind, metadata: { continue: '', ...metadata } };
  return {
    kind,
    apiVersion,
    metadata,
    items: page.items.map((item) => withoutFields(item, 'kind', 'apiVersion')),
  };
}
