// What the API server has to know of a resource, as data and small pure functions: one value for each resource and
// version that it serves. Nothing here does anything.
import type { FieldError } from '../field-error.ts';
import type { JsonObject } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { TableColumn } from '../printing/table-column.ts';

export interface ResourceNames {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** A request's object as the server understands it. */
export interface Decoded {
  readonly object: KubernetesObject;
  /** Paths that the type does not know; they are gone from `object`. */
  readonly unknownFields: readonly string[];
}

export interface CreateRules {
  /** What the server sets or takes away before it looks at the object. */
  readonly prepare: (object: KubernetesObject) => KubernetesObject;
  readonly validate: (object: KubernetesObject) => readonly FieldError[];
}

export interface UpdateRules {
  /** `next` with everything undone that this path may not change. */
  readonly prepare: (next: KubernetesObject, current: KubernetesObject) => KubernetesObject;
  readonly validate: (next: KubernetesObject, current: KubernetesObject) => readonly FieldError[];
}

export interface DeletionRules {
  /**
   * Seconds between the wish to delete and the end, given what the request asks for; undefined where there is no grace,
   * which differs from 0 in that no wish is recorded.
   */
  readonly gracePeriod: (object: KubernetesObject, requested: number | undefined) => number | undefined;
  /** Whether something but finalizers and grace has to happen before the end. */
  readonly waits: (object: KubernetesObject) => boolean;
  /** What else shows that an object is going. */
  readonly mark: (object: KubernetesObject) => KubernetesObject;
}

/** How most objects go. */
export const endsAtOnce: DeletionRules = {
  gracePeriod: () => undefined,
  waits: () => false,
  mark: (object) => object,
};

/** A field that selectors may name. */
export interface SelectableField {
  readonly name: string;
  readonly valueOf: (object: KubernetesObject) => string;
}

export interface ResourceType {
  readonly names: ResourceNames;
  readonly namespaced: boolean;
  /** Custom resources differ from built-in ones in how they refuse. */
  readonly custom: boolean;
  /** The group under which refusals name the kind: that of the version in which objects are checked. */
  readonly kindGroup: string;
  /** The collection that keeps the objects; several versions of a resource share one. */
  readonly collection: string;
  /** Where the real server would keep them in etcd; one refusal names it. */
  readonly storagePath: string;
  /** Throws `DecodeError` where a value does not fit the type. */
  readonly decode: (body: JsonObject) => Decoded;
  /** This version's view of a stored object, and back. */
  readonly fromStored: (object: KubernetesObject) => KubernetesObject;
  readonly toStored: (object: KubernetesObject) => KubernetesObject;
  readonly create: CreateRules;
  readonly update: UpdateRules;
  /** Parts of an object with a path of their own, as `status`. */
  readonly subresources: Readonly<Record<string, UpdateRules>>;
  /** PUT makes an object that is not there. */
  readonly createsOnUpdate: boolean;
  /** PUT without a resource version replaces whatever is there. */
  readonly updatesUnconditionally: boolean;
  /** Answers deletion with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly deletion: DeletionRules;
  readonly selectableFields: readonly SelectableField[];
  /** The refusal of a field that is not selectable. */
  readonly unknownFieldText: (field: string) => string;
  readonly columns: readonly TableColumn[];
  /** The schema that clients may read; undefined where there is none to show. */
  readonly documentation: JsonObject | undefined;
}

/** `v1`, `cilium.io/v2`. */
export function apiVersionOf(names: Pick<ResourceNames, 'group' | 'version'>): string {
  return names.group === '' ? names.version : `${names.group}/${names.version}`;
}

/** The resource as refusals name it. */
export function resourceName(type: ResourceType): { readonly group: string; readonly name: string } {
  return { group: type.names.group, name: type.names.plural };
}

/** The kind as refusals name it. */
export function kindName(type: ResourceType): { readonly group: string; readonly name: string } {
  return { group: type.kindGroup, name: type.names.kind };
}

/** Where an object of this type is in its collection. */
export function keyOf(type: ResourceType, namespace: string, name: string): string {
  return type.namespaced ? `${namespace}/${name}` : name;
}
