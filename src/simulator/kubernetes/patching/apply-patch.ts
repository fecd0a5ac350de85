// The three kinds of patches: how each is parsed from a body and applied to an object.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#patch-and-apply
import type { KubernetesRequest } from '../exchange.ts';
import { badRequest } from '../api-status.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { readJson } from '../read-json.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { applyJsonPatch, type JsonPatchOperation, jsonPatchOf } from './json-patch.ts';
import { mergeObjects } from './merge-patch.ts';
import { strategicMerge } from './strategic-merge.ts';

export type PatchKind = 'json' | 'merge' | 'strategic';

export type Patch =
  | { readonly kind: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly kind: 'merge' | 'strategic'; readonly changes: JsonObject };

/** Throws `StatusError` for a body that is not a patch of its kind. */
export function parsePatch(kind: PatchKind, request: Pick<KubernetesRequest, 'body' | 'value'>): Patch {
  const read = request.value === undefined ? readJson(request.body ?? '') : { value: request.value };
  if ('problem' in read) throw badRequest(`error decoding patch: ${read.problem}`);
  const { value } = read;
  if (kind === 'json') return { kind, operations: jsonPatchOf(value) };
  if (value === null) throw badRequest('Invalid JSON Patch');
  if (!isJsonObject(value)) throw badRequest(`error decoding patch: ${cannotUnmarshal(value)}`);
  return { kind, changes: value };
}

function cannotUnmarshal(value: JsonValue): string {
  const type = isJsonArray(value) ? 'array' : typeof value;
  return `json: cannot unmarshal ${type === 'boolean' ? 'bool' : type} into Go value of type map[string]interface {}`;
}

/** The patched object, not yet decoded; throws `StatusError` if the patch cannot be applied. */
export function applyPatch(patch: Patch, current: KubernetesObject, type: ResourceType): KubernetesObject {
  switch (patch.kind) {
    case 'merge':
      return mergeObjects(current, patch.changes) as KubernetesObject;
    case 'strategic':
      return strategicMerge(current, patch.changes, type.names.kind) as KubernetesObject;
    case 'json':
      return applyJsonPatch(current, patch.operations) as KubernetesObject;
  }
}
