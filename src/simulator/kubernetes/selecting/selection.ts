// The selection of a list or watch: namespace, label selector and field selector combined.
import { badRequest } from '../api-status.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { keyOf } from '../resources/resource-type.ts';
import { type FieldRequirement, parseFieldSelector } from './field-selector.ts';
import { parseLabelSelector } from './label-selector.ts';

export interface Selection {
  readonly matches: (object: KubernetesObject) => boolean;
  /** The only key that can match, if the selectors name a single object. */
  readonly key: string | undefined;
  /** Whether anything besides the namespace restricts it. */
  readonly narrowed: boolean;
}

export interface SelectionRequest {
  /** Empty for all namespaces. */
  readonly namespace: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

/** Throws `StatusError` for selectors that are malformed or name an unsupported field. */
export function selectionOf(type: ResourceType, request: SelectionRequest): Selection {
  const labels = parseLabelSelector(request.labelSelector);
  const fields = parseFieldSelector(request.fieldSelector);
  const valueOf = fields.map(({ field }) => readerOf(type, field));
  const namespace = type.namespaced ? request.namespace : '';
  return {
    matches: (object) =>
      (namespace === '' || object.metadata.namespace === namespace) &&
      labels(object.metadata.labels ?? {}) &&
      fields.every(({ equal, value }, index) => (valueOf[index]?.(object) === value) === equal),
    key: onlyKey(type, namespace, fields),
    narrowed: request.labelSelector.trim() !== '' || fields.length > 0,
  };
}

function readerOf(type: ResourceType, field: string): (object: KubernetesObject) => string {
  const found = type.selectableFields.find((selectable) => selectable.name === field);
  if (found === undefined) throw badRequest(type.unknownFieldText(field));
  return found.valueOf;
}

function onlyKey(
  type: ResourceType,
  namespace: string,
  fields: readonly FieldRequirement[],
): string | undefined {
  const required = (name: string): string | undefined =>
    fields.find(({ field, equal }) => equal && field === name)?.value;
  const name = required('metadata.name');
  const place = namespace === '' ? required('metadata.namespace') : namespace;
  if (name === undefined || (type.namespaced && place === undefined)) return undefined;
  return keyOf(type, place ?? '', name);
}
