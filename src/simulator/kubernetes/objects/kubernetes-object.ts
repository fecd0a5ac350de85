// Types of what every Kubernetes object has in common.
import type { JsonObject } from '../json-value.ts';

export interface OwnerReference extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that one manager set by writes of one kind, and the time of its last change. */
export interface ManagedFields extends JsonObject {
  readonly manager: string;
  readonly operation: 'Update';
  readonly apiVersion: string;
  readonly time: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: JsonObject;
  readonly subresource?: string;
}

/** Decoded metadata: absent and empty are equal, so empty strings, lists and maps do not occur. */
export interface ObjectMeta extends JsonObject {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFields[];
}

export interface KubernetesObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}
