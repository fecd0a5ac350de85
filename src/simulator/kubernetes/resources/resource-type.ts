// Describes a resource for the API server as data and small pure functions: one value for each served
// resource and version.
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

/** A request's object as the server decodes it. */
export interface Decoded {
  readonly object: KubernetesObject;
  /** Paths of fields unknown to the type; `object` no longer has them. */
  readonly unknownFields: readonly string[];
}

export interface CreateRules {
  /** Sets and removes what the server does before validation. */
  readonly prepare: (object: KubernetesObject) => KubernetesObject;
  readonly validate: (object: KubernetesObject) => readonly FieldError[];
}

export interface UpdateRules {
  /** `next` with the changes undone that this path does not allow. */
  readonly prepare: (next: KubernetesObject, current: KubernetesObject) => KubernetesObject;
  readonly validate: (next: KubernetesObject, current: KubernetesObject) => readonly FieldError[];
}

export interface DeletionRules {
  /**
   * Seconds between the delete request and the end, given the requested grace; undefined without grace. It
   * differs from 0: no deletion timestamp is recorded.
   */
  readonly gracePeriod: (object: KubernetesObject, requested: number | undefined) => number | undefined;
  /** Whether the end waits for more than finalizers and grace. */
  readonly waits: (object: KubernetesObject) => boolean;
  /** Further marks of a deletion in progress. */
  readonly mark: (object: KubernetesObject) => KubernetesObject;
}

/** The deletion rules of most objects. */
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

const nameField: SelectableField = { name: 'metadata.name', valueOf: (object) => object.metadata.name ?? '' };
const namespaceField: SelectableField = {
  name: 'metadata.namespace',
  valueOf: (object) => object.metadata.namespace ?? '',
};

/** The selectable fields of every resource. */
export function metadataFields(namespaced: boolean): readonly SelectableField[] {
  return namespaced ? [nameField, namespaceField] : [nameField];
}

export interface ResourceType {
  readonly names: ResourceNames;
  readonly namespaced: boolean;
  /** Custom resources refuse with other texts than built-in ones. */
  readonly custom: boolean;
  /** The group that refusals name: that of the version in which objects are validated. */
  readonly kindGroup: string;
  /** The collection with the objects; versions of a resource share one. */
  readonly collection: string;
  /** The real server's etcd path; one refusal names it. */
  readonly storagePath: string;
  /** Throws `DecodeError` if a value does not fit the type. */
  readonly decode: (body: JsonObject) => Decoded;
  /** Converts a stored object to this version, and back. */
  readonly fromStored: (object: KubernetesObject) => KubernetesObject;
  readonly toStored: (object: KubernetesObject) => KubernetesObject;
  readonly create: CreateRules;
  readonly update: UpdateRules;
  /** Subresources, such as `status`. */
  readonly subresources: Readonly<Record<string, UpdateRules>>;
  /** PUT creates a missing object. */
  readonly createsOnUpdate: boolean;
  /** PUT without a resource version replaces the current object. */
  readonly updatesUnconditionally: boolean;
  /** Answers a deletion with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly deletion: DeletionRules;
  readonly selectableFields: readonly SelectableField[];
  /** The refusal of a field that is not selectable. */
  readonly unknownFieldText: (field: string) => string;
  readonly columns: readonly TableColumn[];
  /** The schema that clients may read; undefined if there is none. */
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

/** The key of an object of this type in its collection. */
export function keyOf(type: ResourceType, namespace: string, name: string): string {
  return type.namespaced ? `${namespace}/${name}` : name;
}
