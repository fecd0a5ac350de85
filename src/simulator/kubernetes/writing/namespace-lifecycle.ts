// Checks that a namespace exists and is not terminating before an object is created in it.
import { forbidden, namespaceTerminating, notFound } from '../api-status.ts';
import { resourceName } from '../resources/resource-type.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { WriteTarget } from './write-context.ts';

const immortal: readonly string[] = ['default', 'kube-system', 'kube-public'];

/** Refuses a creation in a namespace that is missing or terminating. */
export function checkNamespaceOpen(store: ObjectStore, { type, namespace }: WriteTarget, name: string): void {
  if (!type.namespaced) return;
  const found = store.collection('namespaces').get(namespace);
  if (found === undefined) throw notFound({ group: '', name: 'namespaces' }, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  throw namespaceTerminating(resourceName(type), name, namespace);
}

/** Refuses to delete the namespaces that every cluster has. */
export function checkNamespaceMortal({ type }: WriteTarget, name: string): void {
  if (type.collection !== 'namespaces' || !immortal.includes(name)) return;
  throw forbidden(resourceName(type), name, 'this namespace may not be deleted');
}
