// Rules for metadata and its changes. Each function returns errors in the API server's order.
import { type FieldError, forbiddenField, invalid, invalidAs, required, tooLong } from '../field-error.ts';
import { goTexts } from '../go-text.ts';
import { type JsonValue, sameJson } from '../json-value.ts';
import type { KubernetesObject, ObjectMeta, OwnerReference } from './kubernetes-object.ts';
import { dnsLabel, labelValueRule, prefixRule, qualifiedName, type TextRule } from './names.ts';

const annotationsLimit = 256 * 1024;

/** Errors in the metadata of one object. */
export function metadataErrors(
  metadata: ObjectMeta,
  namespaced: boolean,
  nameRule: TextRule,
): readonly FieldError[] {
  return [
    ...nameErrors(metadata, nameRule),
    ...namespaceErrors(metadata, namespaced),
    ...labelErrors(metadata),
    ...annotationErrors(metadata),
    ...ownerErrors(metadata.ownerReferences ?? []),
    ...finalizerErrors(metadata.finalizers ?? []),
  ];
}

function nameErrors(metadata: ObjectMeta, rule: TextRule): readonly FieldError[] {
  const { name = '', generateName = '' } = metadata;
  const prefix = generateName === '' ? [] : prefixRule(rule)(generateName);
  const errors = prefix.map((problem) => invalid('metadata.generateName', generateName, problem));
  if (name === '') return [...errors, required('metadata.name', 'name or generateName is required')];
  return [...errors, ...rule(name).map((problem) => invalid('metadata.name', name, problem))];
}

function namespaceErrors(metadata: ObjectMeta, namespaced: boolean): readonly FieldError[] {
  const { namespace = '' } = metadata;
  if (!namespaced)
    return namespace === '' ? [] : [forbiddenField('metadata.namespace', 'not allowed on this type')];
  if (namespace === '') return [required('metadata.namespace')];
  return dnsLabel(namespace).map((problem) => invalid('metadata.namespace', namespace, problem));
}

function labelErrors({ labels = {} }: ObjectMeta): readonly FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedName(key).map((problem) => invalid('metadata.labels', key, problem)),
    ...labelValueRule(value).map((problem) => invalid('metadata.labels', value, problem)),
  ]);
}

function annotationErrors({ annotations = {} }: ObjectMeta): readonly FieldError[] {
  const entries = Object.entries(annotations);
  const errors = entries.flatMap(([key]) =>
    qualifiedName(key.toLowerCase()).map((problem) => invalid('metadata.annotations', key, problem)),
  );
  const size = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return size > annotationsLimit ? [...errors, tooLong('metadata.annotations', annotationsLimit)] : errors;
}

function ownerErrors(owners: readonly OwnerReference[]): readonly FieldError[] {
  const errors = owners.flatMap((owner) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const)
      .filter((field) => (owner[field] ?? '') === '')
      .map((field) =>
        invalid(`metadata.ownerReferences.${field}`, '', `${labelOf(field)} must not be empty`),
      ),
  );
  const [first, second] = owners.filter((owner) => owner.controller === true);
  if (first === undefined || second === undefined) return errors;
  const both = `${first.kind}/${first.name} and ${second.kind}/${second.name}`;
  const detail = `Only one reference can have Controller set to true. Found "true" in references for ${both}`;
  return [...errors, invalid('metadata.ownerReferences', owners, detail)];
}

function labelOf(field: string): string {
  return field === 'apiVersion' ? 'version' : field;
}

function finalizerErrors(finalizers: readonly string[]): readonly FieldError[] {
  const errors = finalizers.flatMap((finalizer) =>
    qualifiedName(finalizer).map((problem) => invalid('metadata.finalizers', finalizer, problem)),
  );
  if (!finalizers.includes('orphan') || !finalizers.includes('foregroundDeletion')) return errors;
  const detail = 'finalizer orphan and foregroundDeletion cannot be both set';
  return [...errors, invalidAs('metadata.finalizers', goTexts(finalizers), detail)];
}

/** Forbidden changes of the metadata. */
export function metadataUpdateErrors(next: ObjectMeta, current: ObjectMeta): readonly FieldError[] {
  return [
    ...addedFinalizerErrors(next, current),
    ...(next.resourceVersion === undefined
      ? [invalid('metadata.resourceVersion', '', 'must be specified for an update')]
      : []),
    ...immutable('metadata.name', next.name, current.name),
    ...immutable('metadata.namespace', next.namespace, current.namespace),
    ...immutable('metadata.uid', next.uid, current.uid),
    ...immutableTime('metadata.creationTimestamp', next.creationTimestamp, current.creationTimestamp),
    ...immutableTime('metadata.deletionTimestamp', next.deletionTimestamp, current.deletionTimestamp),
    ...immutable(
      'metadata.deletionGracePeriodSeconds',
      next.deletionGracePeriodSeconds,
      current.deletionGracePeriodSeconds,
    ),
    ...labelErrors(next),
    ...annotationErrors(next),
    ...ownerErrors(next.ownerReferences ?? []),
  ];
}

function addedFinalizerErrors(next: ObjectMeta, current: ObjectMeta): readonly FieldError[] {
  if (current.deletionTimestamp === undefined) return [];
  const added = (next.finalizers ?? []).filter(
    (finalizer) => !(current.finalizers ?? []).includes(finalizer),
  );
  if (added.length === 0) return [];
  const found = `found new finalizers ${goTexts([...new Set(added)].toSorted())}`;
  const detail = `no new finalizers can be added if the object is being deleted, ${found}`;
  return [forbiddenField('metadata.finalizers', detail)];
}

/** The error for a change of an immutable field. */
export function immutable(
  field: string,
  next: JsonValue | undefined,
  current: JsonValue | undefined,
): readonly FieldError[] {
  return sameJson(next, current) ? [] : [invalid(field, next ?? '', 'field is immutable')];
}

function immutableTime(
  field: string,
  next: string | undefined,
  current: string | undefined,
): readonly FieldError[] {
  if (next === current) return [];
  const shown = next === undefined ? 'null' : `${next.slice(0, 10)} ${next.slice(11, 19)} +0000 UTC`;
  return [invalidAs(field, shown, 'field is immutable')];
}

/** The server's warnings about new finalizers on an object. */
export function finalizerWarnings(
  next: KubernetesObject,
  current: KubernetesObject | undefined,
): readonly string[] {
  const known = [...(current?.metadata.finalizers ?? []), 'orphan', 'foregroundDeletion', 'kubernetes'];
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !known.includes(finalizer));
  return added
    .filter((finalizer) => !finalizer.includes('/'))
    .toSorted()
    .map((finalizer) => {
      const including = finalizer.includes('.') ? ' including a path (/)' : '';
      const reason = 'to avoid accidental conflicts with other finalizer writers';
      return `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name${including} ${reason}`;
    });
}
