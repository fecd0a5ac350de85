// Creates an object: names it, sets the server's fields, validates it, and commits it.
import {
  alreadyExists,
  badRequest,
  generatedNameExists,
  invalidObject,
  unclassifiedError,
} from '../api-status.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { managedAfter } from '../objects/managed-fields.ts';
import { finalizerWarnings, metadataErrors } from '../objects/metadata-rules.ts';
import { pathSegment } from '../objects/names.ts';
import { withMetadata } from '../objects/object-meta.ts';
import { keyOf, resourceName } from '../resources/resource-type.ts';
import { timeText } from '../schema/go-time.ts';
import type { Random } from '../../../runtime/random.ts';
import { checkNamespaceOpen } from './namespace-lifecycle.ts';
import type { WriteContext, WriteOptions, WriteTarget } from './write-context.ts';

/** No vowels and no similar characters, as the API server picks them. */
const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const generatedAttempts = 8;
const maxGeneratedPrefixCharacters = 63 - suffixLength;

/** Returns the created object in the version of the request; throws `StatusError`. */
export function createObject(
  context: WriteContext,
  target: WriteTarget,
  requested: KubernetesObject,
  options: WriteOptions,
): KubernetesObject {
  const { type } = target;
  const object = withSystemFields(context, withRequestNamespace(requested, target));
  checkNamespaceOpen(context.store, target, object.metadata.name ?? '');
  const named = withName(context, target, object);
  const prepared = type.create.prepare(named);
  checkCreated(target, prepared);
  for (const warning of finalizerWarnings(prepared, undefined)) options.warn(warning);
  if (prepared.metadata.resourceVersion !== undefined) {
    throw unclassifiedError('resourceVersion should not be set on objects to be created');
  }
  const name = prepared.metadata.name ?? '';
  const collection = context.store.collection(type.collection);
  const key = keyOf(type, target.namespace, name);
  if (collection.get(key) !== undefined) throw existing(target, object, name);
  const time = timeText(context.clock.wall());
  const managed = withMetadata(prepared, {
    managedFields: managedAfter(undefined, prepared, { ...options.writer, time }),
  });
  return options.dryRun ? managed : type.fromStored(collection.put(key, type.toStored(managed)));
}

/** The path decides the namespace. Refuses an object that names another; a cluster-scoped object has none. */
export function withRequestNamespace(object: KubernetesObject, target: WriteTarget): KubernetesObject {
  if (!target.type.namespaced) return withMetadata(object, { namespace: undefined });
  const { namespace } = object.metadata;
  if (namespace !== undefined && namespace !== target.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return withMetadata(object, { namespace: target.namespace });
}

function withSystemFields({ clock, random }: WriteContext, object: KubernetesObject): KubernetesObject {
  return withMetadata(object, {
    uid: random.uuid(),
    creationTimestamp: timeText(clock.wall()),
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    generation: undefined,
  });
}

function withName(context: WriteContext, target: WriteTarget, object: KubernetesObject): KubernetesObject {
  const { name, generateName } = object.metadata;
  if (name !== undefined || generateName === undefined) return object;
  const collection = context.store.collection(target.type.collection);
  const prefix = generateName.slice(0, maxGeneratedPrefixCharacters);
  let generated = prefix + suffix(context.random);
  for (let attempt = 1; attempt < generatedAttempts; attempt++) {
    if (collection.get(keyOf(target.type, target.namespace, generated)) === undefined) break;
    generated = prefix + suffix(context.random);
  }
  return withMetadata(object, { name: generated });
}

function suffix(random: Random): string {
  return Array.from({ length: suffixLength }, () =>
    suffixLetters.charAt(random.integer(suffixLetters.length)),
  ).join('');
}

function checkCreated({ type }: WriteTarget, object: KubernetesObject): void {
  const name = object.metadata.name ?? '';
  const kind = { group: type.kindGroup, name: object.kind };
  const own = type.create.validate(object);
  if (own.length > 0) throw invalidObject(kind, name, own);
  const common = metadataErrors(object.metadata, type.namespaced, pathSegment);
  if (common.length > 0) throw invalidObject(kind, name, common);
}

function existing(target: WriteTarget, requested: KubernetesObject, name: string): Error {
  const resource = resourceName(target.type);
  const generated = requested.metadata.name === undefined;
  return generated ? generatedNameExists(resource, name) : alreadyExists(resource, name);
}
