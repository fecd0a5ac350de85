// Deletes an object, or marks it as terminating while its grace period or finalizers remain.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
import { conflict, notFound, type StatusDetails, successStatus } from '../api-status.ts';
import type { JsonObject } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { withMetadata } from '../objects/object-meta.ts';
import { keyOf, kindName, type ResourceType, resourceName } from '../resources/resource-type.ts';
import { timeText } from '../schema/go-time.ts';
import { checkNamespaceMortal } from './namespace-lifecycle.ts';
import { isFinished } from './update-object.ts';
import type { WriteContext, WriteTarget } from './write-context.ts';

export interface Deletion {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** Seconds; undefined uses the resource's default. */
  readonly gracePeriod: number | undefined;
  readonly propagation: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly dryRun: boolean;
}

export interface DeleteTarget extends WriteTarget {
  readonly name: string;
}

/** Returns the object while it is terminating, else a Status that it is gone; throws `StatusError`. */
export function deleteObject(context: WriteContext, target: DeleteTarget, deletion: Deletion): JsonObject {
  const { type, name } = target;
  checkNamespaceMortal(target, name);
  const collection = context.store.collection(type.collection);
  const key = keyOf(type, target.namespace, name);
  const stored = collection.get(key);
  if (stored === undefined) throw notFound(resourceName(type), name);
  const current = type.fromStored(stored);
  checkPreconditions(target, current, deletion);
  const wish = deletionWish(context, target, current, deletion);
  if (deletion.dryRun) return answer(target, wish);
  if (wish.object !== current) wish.object = type.fromStored(collection.put(key, type.toStored(wish.object)));
  if (wish.ends) wish.object = type.fromStored(collection.remove(key) ?? stored);
  return answer(target, wish);
}

interface DeletionWish {
  /** The object with the deletion recorded; the current one if nothing needs to be. */
  object: KubernetesObject;
  readonly ends: boolean;
}

function answer({ type, name }: DeleteTarget, { object, ends }: DeletionWish): JsonObject {
  return ends && !type.returnsDeleted ? successStatus(goneDetails(type.names, name, object)) : object;
}

function goneDetails(
  names: { readonly group: string; readonly plural: string },
  name: string,
  { metadata }: KubernetesObject,
): StatusDetails {
  const group = names.group === '' ? {} : { group: names.group };
  return { name, ...group, kind: names.plural, uid: metadata.uid ?? '' };
}

function checkPreconditions(target: DeleteTarget, current: KubernetesObject, deletion: Deletion): void {
  const { uid = '', resourceVersion = '' } = current.metadata;
  if (deletion.uid !== undefined && deletion.uid !== uid) {
    const because = `the UID in the precondition (${deletion.uid}) does not match the UID in record (${uid})`;
    const hint = 'The object might have been deleted and then recreated';
    throw conflict(kindName(target.type), target.name, `${because}. ${hint}`);
  }
  if (deletion.resourceVersion !== undefined && deletion.resourceVersion !== resourceVersion) {
    const versions = `(${deletion.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion})`;
    const because = `the ResourceVersion in the precondition ${versions}. The object might have been modified`;
    throw conflict(kindName(target.type), target.name, because);
  }
}

function deletionWish(
  context: WriteContext,
  { type }: DeleteTarget,
  current: KubernetesObject,
  deletion: Deletion,
): DeletionWish {
  const { gracePeriod, waits, mark } = type.deletion;
  const waiting = waits(current);
  if (current.metadata.deletionTimestamp !== undefined) {
    return waiting ? { object: current, ends: false } : repeatedWish(type, current, deletion);
  }
  const finalizers = finalizersFor(current, deletion);
  const grace = gracePeriod(current, deletion.gracePeriod);
  if (grace === undefined && finalizers.length === 0 && !waiting) return { object: current, ends: true };
  const object = withMetadata(mark(current), {
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    deletionTimestamp: timeText(context.clock.wall() + (grace ?? 0) * 1000),
    deletionGracePeriodSeconds: waiting ? undefined : (grace ?? 0),
    generation: nextGeneration(current),
  });
  return { object, ends: isFinished(type, object) };
}

/** For resources with generations, a deletion counts as one. */
function nextGeneration({ metadata: { generation } }: KubernetesObject): number | undefined {
  return generation === undefined ? undefined : generation + 1;
}

/** A running grace period can only become shorter. */
function repeatedWish(type: ResourceType, current: KubernetesObject, deletion: Deletion): DeletionWish {
  const { deletionTimestamp = '', deletionGracePeriodSeconds: running = 0 } = current.metadata;
  const wanted = Math.min(running, deletion.gracePeriod ?? running);
  if (wanted === running) return { object: current, ends: isFinished(type, current) };
  const end = timeText(Date.parse(deletionTimestamp) + (wanted - running) * 1000);
  const object = withMetadata(current, { deletionTimestamp: end, deletionGracePeriodSeconds: wanted });
  return { object, ends: isFinished(type, object) };
}

/** A finalizer instructs the garbage collector about the dependents. */
function finalizersFor(current: KubernetesObject, { propagation }: Deletion): readonly string[] {
  const { finalizers = [] } = current.metadata;
  if (propagation === undefined) return finalizers;
  const others = finalizers.filter(
    (finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion',
  );
  if (propagation === 'Orphan') return [...others, 'orphan'];
  return propagation === 'Foreground' ? [...others, 'foregroundDeletion'] : others;
}
