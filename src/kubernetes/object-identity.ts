// The identity of an object of Kubernetes, read from what anyone may have written.
import { type JsonObject, listAt, textAt, textsAt, valueAt } from '../runtime/json.ts';

export interface ObjectIdentity {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The API server's wall clock, in ms; Infinity if unreadable. */
  readonly createdAt: number;
  readonly isDeleting: boolean;
}

export const ignoreAnnotation = 'ipam.cilium.io/ignore';
const keepAnnotation = 'cilium.io/do-not-gc';

/** Whether the owner of a CiliumNode asks on this object, itself or its Node, that it is ignored. */
export function isIgnored(raw: JsonObject): boolean {
  return isAnnotated(raw, ignoreAnnotation);
}

/** Whether the owner asks that the object is kept although its machine is gone. */
export function isKept(raw: JsonObject): boolean {
  return isAnnotated(raw, keepAnnotation);
}

/** Whether the annotation is there and says `true`, in any case. */
function isAnnotated(raw: JsonObject, annotation: string): boolean {
  return textAt(raw, 'metadata', 'annotations', annotation)?.toLowerCase() === 'true';
}

/** Whether its condition of this type has this status. */
export function hasCondition(raw: JsonObject, type: string, status: 'True' | 'False'): boolean {
  return listAt(raw, 'status', 'conditions').some(
    (each) => textAt(each, 'type') === type && textAt(each, 'status') === status,
  );
}

/** Those whose value is a text. */
export function allLabels(raw: JsonObject): Readonly<Record<string, string>> {
  return textsAt(raw, 'metadata', 'labels');
}

/** Pods that the kubelet of a Node admits, those that it could have less what is reserved; undefined before it says so. */
export function admittedPods(raw: JsonObject): number | undefined {
  const given = (part: string): string | undefined => textAt(raw, 'status', part, 'pods');
  const text = given('allocatable') ?? given('capacity') ?? '';
  // The API server writes 2000 as 2k.
  const [, digits, thousands] = /^(\d{1,9})(k?)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (thousands === 'k' ? 1000 : 1);
}

export function readIdentity(raw: JsonObject): ObjectIdentity {
  const createdAt = Date.parse(textAt(raw, 'metadata', 'creationTimestamp') ?? '');
  return {
    name: textAt(raw, 'metadata', 'name') ?? '',
    uid: textAt(raw, 'metadata', 'uid') ?? '',
    resourceVersion: textAt(raw, 'metadata', 'resourceVersion') ?? '',
    createdAt: Number.isNaN(createdAt) ? Infinity : createdAt,
    isDeleting: valueAt(raw, 'metadata', 'deletionTimestamp') !== undefined,
  };
}
