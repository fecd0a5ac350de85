// The metadata of every object: its fields, and how to read and write them.
import { definedFields, isJsonObject, type JsonValue, withoutFields } from '../json-value.ts';
import { flag, int64, text, textMap, texts, time } from '../schema/scalars.ts';
import { type StructShape, filled, given, list, struct } from '../schema/wire-shape.ts';
import type { KubernetesObject, ObjectMeta } from './kubernetes-object.ts';

const ownerReference = struct('OwnerReference', {
  apiVersion: text,
  kind: text,
  name: text,
  uid: text,
  controller: given(flag),
  blockOwnerDeletion: given(flag),
});

/** Read and dropped: the server itself records who set which field. */
const forgottenMetadata: readonly string[] = ['managedFields', 'selfLink'];

export const objectMetaShape: StructShape = struct('ObjectMeta', {
  name: text,
  generateName: text,
  namespace: text,
  uid: text,
  resourceVersion: text,
  generation: int64,
  creationTimestamp: filled(time),
  deletionTimestamp: given(time),
  deletionGracePeriodSeconds: given(int64),
  labels: textMap,
  annotations: textMap,
  ownerReferences: list(ownerReference),
  finalizers: texts,
});

/** Removes the fields that this server does not keep, so they do not count as unknown. */
export function keptMetadata(metadata: JsonValue): JsonValue {
  return isJsonObject(metadata) ? withoutFields(metadata, ...forgottenMetadata) : metadata;
}

/** A copy with the given metadata fields replaced; undefined removes a field. */
export function withMetadata(
  object: KubernetesObject,
  changes: Readonly<Partial<Record<keyof ObjectMeta & string, JsonValue | undefined>>>,
): KubernetesObject {
  return { ...object, metadata: definedFields({ ...object.metadata, ...changes }) };
}
