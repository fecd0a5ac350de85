// Updates an object: checks the client's version, undoes changes that this path does not allow, validates,
// and commits if anything changed. An object that loses its last finalizer is removed.
import { conflict, invalidObject, notFound, unclassifiedError } from '../api-status.ts';
import { type FieldError, invalidAs } from '../field-error.ts';
import { quoted } from '../go-text.ts';
import { type JsonObject, sameJson, withoutFields } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { managedAfter } from '../objects/managed-fields.ts';
import { finalizerWarnings, metadataErrors, metadataUpdateErrors } from '../objects/metadata-rules.ts';
import { pathSegment } from '../objects/names.ts';
import { withMetadata } from '../objects/object-meta.ts';
import { keyOf, resourceName, type ResourceType, type UpdateRules } from '../resources/resource-type.ts';
import { timeText } from '../schema/go-time.ts';
import { createObject, withRequestNamespace } from './create-object.ts';
import type { WriteContext, WriteOptions, WriteTarget } from './write-context.ts';

export interface UpdateTarget extends WriteTarget {
  readonly name: string;
  /** For the object itself or one of its subresources. */
  readonly rules: UpdateRules;
}

export interface Update {
  /** The desired object, given the current one; undefined if there is none. */
  readonly next: (current: KubernetesObject | undefined) => KubernetesObject;
  /** The object must have this uid. */
  readonly uid: string | undefined;
  /** Whether a missing object may be created. */
  readonly mayCreate: boolean;
}

export interface Updated {
  readonly object: KubernetesObject;
  readonly created: boolean;
}

const modified =
  'the object has been modified; please apply your changes to the latest version and try again';

/** Returns the object after the write, in the version of the request; throws `StatusError`. */
export function updateObject(
  context: WriteContext,
  target: UpdateTarget,
  update: Update,
  options: WriteOptions,
): Updated {
  const { type, name } = target;
  const collection = context.store.collection(type.collection);
  const stored = collection.get(keyOf(type, target.namespace, name));
  if (stored === undefined) return createInstead(context, target, update, options);
  const current = type.fromStored(stored);
  checkUid(target, current, update.uid);
  const wanted = withRequestNamespace(update.next(current), target);
  const versioned = withMetadata(wanted, { resourceVersion: agreedVersion(target, wanted, current) });
  const next = prepared(target, versioned, current);
  checkUpdated(target, next, current);
  for (const warning of finalizerWarnings(next, current)) options.warn(warning);
  return { object: commit(context, target, { next, current }, options), created: false };
}

function createInstead(
  context: WriteContext,
  target: UpdateTarget,
  update: Update,
  options: WriteOptions,
): Updated {
  if (!update.mayCreate) throw notFound(resourceName(target.type), target.name);
  if (update.uid !== undefined)
    throw conflict(resourceName(target.type), target.name, uidGone(target, update.uid));
  const object = createObject(context, target, update.next(undefined), options);
  return { object, created: true };
}

function uidGone(target: UpdateTarget, uid: string): string {
  return storageError(target, `Precondition failed: UID in precondition: ${uid}, UID in object meta: `);
}

function checkUid(target: UpdateTarget, current: KubernetesObject, uid: string | undefined): void {
  const actual = current.metadata.uid ?? '';
  if (uid === undefined || uid === actual) return;
  const because = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${actual}`;
  throw conflict(resourceName(target.type), target.name, storageError(target, because));
}

function storageError(target: UpdateTarget, because: string): string {
  const key = `${target.type.storagePath}/${keyOf(target.type, target.namespace, target.name)}`;
  return `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${because}`;
}

/** The version that the write is based on: the current one, or a refusal. */
function agreedVersion(target: UpdateTarget, next: KubernetesObject, current: KubernetesObject): string {
  const { resourceVersion: given = '' } = next.metadata;
  const actual = current.metadata.resourceVersion ?? '';
  if (given === actual) return actual;
  if (given !== '' && !/^\d+$/.test(given)) {
    throw unclassifiedError(`strconv.ParseUint: parsing ${quoted(given)}: invalid syntax`);
  }
  if (given !== '' && Number(given) !== 0) throw conflict(resourceName(target.type), target.name, modified);
  if (target.type.updatesUnconditionally) return actual;
  const error = invalidAs('metadata.resourceVersion', '0x0', 'must be specified for an update');
  throw invalidObject(resourceName(target.type), target.name, [error]);
}

/** The server's own metadata fields never change, whatever the client sends. */
function prepared(target: UpdateTarget, next: KubernetesObject, current: KubernetesObject): KubernetesObject {
  const { metadata } = current;
  const ruled = target.rules.prepare(withMetadata(next, { generation: metadata.generation }), current);
  return withMetadata(ruled, {
    uid: ruled.metadata.uid ?? metadata.uid,
    creationTimestamp: metadata.creationTimestamp,
    deletionTimestamp: metadata.deletionTimestamp ?? ruled.metadata.deletionTimestamp,
    deletionGracePeriodSeconds:
      ruled.metadata.deletionGracePeriodSeconds ?? metadata.deletionGracePeriodSeconds,
    managedFields: metadata.managedFields,
  });
}

function checkUpdated(
  { type, rules }: UpdateTarget,
  next: KubernetesObject,
  current: KubernetesObject,
): void {
  const errors: readonly FieldError[] = [
    ...metadataErrors(next.metadata, type.namespaced, pathSegment),
    ...metadataUpdateErrors(next.metadata, current.metadata),
    ...rules.validate(next, current),
  ];
  if (errors.length === 0) return;
  throw invalidObject({ group: type.kindGroup, name: next.kind }, next.metadata.name ?? '', errors);
}

interface Step {
  readonly next: KubernetesObject;
  readonly current: KubernetesObject;
}

function commit(
  context: WriteContext,
  target: UpdateTarget,
  { next, current }: Step,
  options: WriteOptions,
): KubernetesObject {
  const { type } = target;
  if (sameJson(comparable(next), comparable(current))) return next;
  const time = timeText(context.clock.wall());
  const managed = withMetadata(next, {
    managedFields: managedAfter(current, next, { ...options.writer, time }),
  });
  if (options.dryRun) return managed;
  const collection = context.store.collection(type.collection);
  const key = keyOf(type, target.namespace, target.name);
  if (isFinished(type, next)) {
    collection.remove(key);
    return next;
  }
  return type.fromStored(collection.put(key, type.toStored(managed)));
}

function comparable(object: KubernetesObject): JsonObject {
  return { ...object, metadata: withoutFields(object.metadata, 'resourceVersion') };
}

/** Deletion was requested and nothing remains to wait for. */
export function isFinished(type: ResourceType, object: KubernetesObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0, finalizers = [] } = object.metadata;
  const waits = grace > 0 || finalizers.length > 0 || type.deletion.waits(object);
  return deletionTimestamp !== undefined && !waits;
}
