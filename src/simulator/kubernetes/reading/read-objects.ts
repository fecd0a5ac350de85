// Reads single objects and lists: which state a request may see, and which page of it.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
import { badRequest, expired, notFound, unclassifiedError, versionTooLarge } from '../api-status.ts';
import { quoted } from '../go-text.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { keyOf, type ResourceType, resourceName } from '../resources/resource-type.ts';
import type { Selection } from '../selecting/selection.ts';
import type { Collection, StoredObject } from '../storage/collection.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { decodeContinue, encodeContinue, type ListPosition } from './continue-token.ts';
import type { ListOptions } from './list-options.ts';

export interface ObjectPlace {
  readonly type: ResourceType;
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
  readonly name: string;
}

export interface ListPage {
  readonly items: readonly KubernetesObject[];
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly continueToken: string;
  /** Objects after this page; undefined if selectors make the number unknown. */
  readonly remaining: number | undefined;
}

/** One object, at least as new as `resourceVersion`; throws `StatusError`. */
export function readObject(
  store: ObjectStore,
  place: ObjectPlace,
  resourceVersion: string,
): KubernetesObject {
  const { type, namespace, name } = place;
  checkReached(store, parseVersion(resourceVersion));
  const found = store.collection(type.collection).get(keyOf(type, namespace, name));
  if (found === undefined) throw notFound(resourceName(type), name);
  return type.fromStored(found);
}

/** The revision in a request, 0 for any; throws `StatusError` for malformed text. */
export function parseVersion(text: string): number {
  if (/^\d*$/.test(text)) return Number(text);
  const value = quoted(text);
  throw unclassifiedError(
    `resourceVersion: Invalid value: ${value}: strconv.ParseUint: parsing ${value}: invalid syntax`,
  );
}

/** A real server waits up to three seconds for a version. Here waiting cannot help. */
export function checkReached(store: ObjectStore, revision: number): void {
  if (revision > store.revision) throw versionTooLarge(revision, store.revision);
}

/** One page of the selected objects; throws `StatusError`. */
export function listObjects(
  store: ObjectStore,
  type: ResourceType,
  selection: Selection,
  options: ListOptions,
): ListPage {
  const collection = store.collection(type.collection);
  const view = viewOf(store, collection, options);
  const limit = options.resourceVersion === '0' ? Infinity : options.limit || Infinity;
  const items: KubernetesObject[] = [];
  let last = '';
  let beyond = 0;
  for (const { key, object } of view.objects) {
    const seen = type.fromStored(object);
    if (key <= view.after || !selection.matches(seen)) continue;
    if (items.length >= limit) beyond++;
    else {
      items.push(seen);
      last = key;
    }
  }
  return {
    items,
    resourceVersion: String(view.revision),
    continueToken: beyond === 0 ? '' : encodeContinue({ revision: view.revision, after: last }),
    remaining: beyond === 0 || selection.narrowed ? undefined : beyond,
  };
}

interface View {
  readonly objects: Iterable<StoredObject>;
  readonly revision: number;
  /** Only objects after this key are shown. */
  readonly after: string;
}

function viewOf(store: ObjectStore, collection: Collection, options: ListOptions): View {
  if (options.continueToken !== '') return continuedView(store, collection, options);
  const wanted = parseVersion(options.resourceVersion);
  const exact = options.match === 'Exact' || (options.match === '' && options.limit > 0 && wanted > 0);
  if (!exact) {
    checkReached(store, wanted);
    return { objects: collection.all(), revision: store.revision, after: '' };
  }
  if (wanted > store.revision) {
    throw unclassifiedError('etcdserver: mvcc: required revision is a future revision');
  }
  const objects = collection.allAt(wanted);
  if (objects === undefined) throw expired('The resourceVersion for the provided list is too old.');
  return { objects, revision: wanted, after: '' };
}

function continuedView(store: ObjectStore, collection: Collection, options: ListOptions): View {
  const position = decodeContinue(options.continueToken);
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const { revision, after } = position;
  if (revision < 0) return { objects: collection.all(), revision: store.revision, after };
  const objects = collection.allAt(revision);
  if (objects === undefined) throw expiredToken(position);
  return { objects, revision, after };
}

function expiredToken(position: ListPosition): Error {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
    'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
    'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
    'deleted between the time the first chunk was returned and now may show up in the list.';
  return expired(message, { continue: encodeContinue({ ...position, revision: -1 }) });
}
