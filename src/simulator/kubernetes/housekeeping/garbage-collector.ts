// Collects what the controllers of a real cluster do: objects without owners, and the content of a deleted
// namespace. A bare API server does not, so the model does it only if configured.
// https://kubernetes.io/docs/concepts/architecture/garbage-collection/
import type { KubernetesObject, OwnerReference } from '../objects/kubernetes-object.ts';
import { withMetadata } from '../objects/object-meta.ts';
import { namespaces } from '../resources/namespaces.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { Change } from '../storage/change.ts';
import { deleteObject } from '../writing/delete-object.ts';
import { isFinished } from '../writing/update-object.ts';
import type { WriteContext } from '../writing/write-context.ts';

interface Place {
  readonly collection: string;
  readonly key: string;
}

const background = {
  uid: undefined,
  resourceVersion: undefined,
  gracePeriod: undefined,
  propagation: undefined,
  dryRun: false,
} as const;

export class GarbageCollector {
  readonly #context: WriteContext;
  readonly #registry: ResourceRegistry;
  /** Location of each object, by uid. */
  readonly #live = new Map<string, Place>();
  /** Locations of current and former dependents, by the owner's uid. */
  readonly #dependents = new Map<string, Map<string, Place>>();
  /** Changes not yet processed. */
  readonly #dirty: Place[] = [];

  constructor(context: WriteContext, registry: ResourceRegistry) {
    this.#context = context;
    this.#registry = registry;
    context.store.listen((collection, change) => this.#note(collection, change));
  }

  /** Processes everything that changed since the last run. */
  run(): void {
    for (let place = this.#dirty.shift(); place !== undefined; place = this.#dirty.shift())
      this.#visit(place);
  }

  #note(collection: string, { kind, key, object }: Change): void {
    const { uid = '', ownerReferences = [] } = object.metadata;
    const place = { collection, key };
    if (kind !== 'DELETED') {
      this.#live.set(uid, place);
      for (const owner of ownerReferences) this.#rememberDependent(owner.uid, place);
      this.#dirty.push(place);
      return;
    }
    this.#live.delete(uid);
    const owners = ownerReferences.flatMap((owner) => this.#live.get(owner.uid) ?? []);
    this.#dirty.push(...(this.#dependents.get(uid)?.values() ?? []), ...owners, ...this.#namespaceOf(object));
    this.#dependents.delete(uid);
  }

  #rememberDependent(owner: string, place: Place): void {
    const known = this.#dependents.get(owner) ?? new Map<string, Place>();
    this.#dependents.set(owner, known.set(`${place.collection} ${place.key}`, place));
  }

  /** A deleted namespace may have lost its last object. */
  #namespaceOf({ metadata: { namespace } }: KubernetesObject): readonly Place[] {
    return namespace === undefined ? [] : [{ collection: namespaces.collection, key: namespace }];
  }

  #visit(place: Place): void {
    const type = this.#registry.all().find(({ collection }) => collection === place.collection);
    const object = this.#context.store.collection(place.collection).get(place.key);
    if (type === undefined || object === undefined) return;
    const isTerminating = object.metadata.deletionTimestamp !== undefined;
    if (isTerminating && type === namespaces) this.#finishNamespace(place, object);
    else if (isTerminating) this.#finish(type, place, object);
    else if (type === namespaces || object.metadata.ownerReferences === undefined) return;
    else this.#settleOwners(type, place, object, object.metadata.ownerReferences);
  }

  /** Deletes an object whose last owner is gone; otherwise removes its references to missing owners. */
  #settleOwners(
    type: ResourceType,
    place: Place,
    object: KubernetesObject,
    owners: readonly OwnerReference[],
  ): void {
    const left = owners.filter(({ uid }) => this.#live.has(uid));
    if (left.length === owners.length) return;
    if (left.length === 0) this.#delete(type, object);
    else this.#put(place, withMetadata(object, { ownerReferences: left }));
  }

  #finish(type: ResourceType, place: Place, object: KubernetesObject): void {
    const { finalizers = [], uid = '' } = object.metadata;
    if (finalizers.includes('foregroundDeletion') && !this.#deleteDependents(uid)) return;
    if (finalizers.includes('orphan')) this.#orphanDependents(uid);
    const left = finalizers.filter(
      (finalizer) => finalizer !== 'foregroundDeletion' && finalizer !== 'orphan',
    );
    if (left.length === finalizers.length) return;
    this.#put(place, withMetadata(object, { finalizers: left.length === 0 ? undefined : left }), type);
  }

  #finishNamespace(place: Place, namespace: KubernetesObject): void {
    if (this.#empty(place.key)) this.#put(place, { ...namespace, spec: {} }, namespaces);
  }

  /** Deletes the content of a namespace; returns whether none is left. */
  #empty(namespace: string): boolean {
    const inside = (): (readonly [ResourceType, KubernetesObject])[] =>
      this.#namespacedTypes().flatMap((type) =>
        [...this.#context.store.collection(type.collection).all()]
          .filter(({ object }) => object.metadata.namespace === namespace)
          .map(({ object }) => [type, object] as const),
      );
    for (const [type, object] of inside()) {
      if (object.metadata.deletionTimestamp === undefined) this.#delete(type, object);
    }
    return inside().length === 0;
  }

  #namespacedTypes(): readonly ResourceType[] {
    const types = this.#registry.all().filter(({ namespaced }) => namespaced);
    return types.filter(
      ({ collection }, index) => types.findIndex((other) => other.collection === collection) === index,
    );
  }

  /** Returns whether none is left. A dependent that waits for something triggers another visit once it is gone. */
  #deleteDependents(owner: string): boolean {
    const places = [...(this.#dependents.get(owner)?.values() ?? [])];
    for (const { collection, key } of places) {
      const type = this.#registry.all().find((candidate) => candidate.collection === collection);
      const object = this.#context.store.collection(collection).get(key);
      const isTerminating = object?.metadata.deletionTimestamp !== undefined;
      if (type !== undefined && object !== undefined && !isTerminating) this.#delete(type, object);
    }
    return places.every(
      ({ collection, key }) => this.#context.store.collection(collection).get(key) === undefined,
    );
  }

  #orphanDependents(owner: string): void {
    for (const place of this.#dependents.get(owner)?.values() ?? []) {
      const object = this.#context.store.collection(place.collection).get(place.key);
      const left = (object?.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner);
      if (object === undefined) continue;
      this.#put(place, withMetadata(object, { ownerReferences: left.length === 0 ? undefined : left }));
    }
  }

  #delete(type: ResourceType, { metadata: { namespace = '', name = '' } }: KubernetesObject): void {
    deleteObject(this.#context, { type, namespace, name }, background);
  }

  /** Writes the object, or removes it if it waits for nothing. */
  #put({ collection, key }: Place, object: KubernetesObject, type?: ResourceType): void {
    const objects = this.#context.store.collection(collection);
    if (type !== undefined && isFinished(type, object)) objects.remove(key);
    else objects.put(key, object);
  }
}
