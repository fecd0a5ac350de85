// Computes the events of a watch: what a change looks like to a watcher of selected objects.
import type { JsonObject } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { withMetadata } from '../objects/object-meta.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import type { Selection } from '../selecting/selection.ts';
import type { Change, ChangeKind } from '../storage/change.ts';

export interface ObjectEvent {
  readonly type: ChangeKind;
  readonly object: KubernetesObject;
}

/** An object that enters or leaves the selection appears added or deleted to the watcher, whatever the change was. */
export function eventOf(change: Change, type: ResourceType, selection: Selection): ObjectEvent | undefined {
  const object = type.fromStored(change.object);
  const is = change.kind !== 'DELETED' && selection.matches(object);
  const was = change.previous !== undefined && selection.matches(type.fromStored(change.previous));
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object };
  if (!was) return undefined;
  return { type: 'DELETED', object: change.kind === 'DELETED' ? object : leaving(change, type) };
}

/** An object that leaves is shown as last seen in the selection, with the version of the change. */
function leaving(change: Change, type: ResourceType): KubernetesObject {
  const last = type.fromStored(change.previous ?? change.object);
  return withMetadata(last, { resourceVersion: String(change.revision) });
}

/** The object of a bookmark: only a version that the watch has reached. */
export function bookmarkObject(type: ResourceType, revision: number, initialEnd: boolean): JsonObject {
  const apiVersion = apiVersionOf(type.names);
  const resourceVersion = String(revision);
  if (!initialEnd)
    return { kind: type.names.kind, apiVersion, metadata: { resourceVersion, ...bookmarkTime(type) } };
  const kind = type.names.listKind;
  const blueprint = type.custom
    ? { apiVersion, items: [], kind }
    : { kind, apiVersion, metadata: {}, items: null };
  const annotations = {
    'k8s.io/initial-events-end': 'true',
    'kubernetes.io/initial-events-list-blueprint': Buffer.from(`${JSON.stringify(blueprint)}\n`).toString(
      'base64',
    ),
  };
  return {
    kind: type.names.kind,
    apiVersion,
    metadata: { resourceVersion, ...bookmarkTime(type), annotations },
  };
}

function bookmarkTime(type: ResourceType): JsonObject {
  return type.custom ? {} : { creationTimestamp: null };
}
