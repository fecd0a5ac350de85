// The table columns of nodes.
import { textAt, valueAt } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { itemsOf } from '../objects/object-parts.ts';
import { ageColumn, nameColumn, type TableColumn } from './table-column.ts';

const column = (
  name: string,
  description: string,
  priority: number,
  cell: (object: KubernetesObject) => string,
): TableColumn => ({ name, type: 'string', format: '', description, priority, cell });

export const nodeColumns: readonly TableColumn[] = [
  nameColumn,
  column('Status', 'The status of the node', 0, statusOf),
  column('Roles', 'The roles of the node', 0, rolesOf),
  ageColumn,
  column('Version', 'Version of the kubelet', 0, (object) =>
    textAt(object, 'status', 'nodeInfo', 'kubeletVersion'),
  ),
  column('Internal-IP', 'Address inside the cluster', 1, (object) => addressOf(object, 'InternalIP')),
  column('External-IP', 'Address outside the cluster', 1, (object) => addressOf(object, 'ExternalIP')),
  column('OS-Image', 'The operating system', 1, (object) => infoOf(object, 'osImage')),
  column('Kernel-Version', 'Version of the kernel', 1, (object) => infoOf(object, 'kernelVersion')),
  column('Container-Runtime', 'The container runtime', 1, (object) =>
    infoOf(object, 'containerRuntimeVersion'),
  ),
];

function statusOf(object: KubernetesObject): string {
  const ready = itemsOf(object, 'status', 'conditions').find(
    (condition) => textAt(condition, 'type') === 'Ready',
  );
  const status = ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return valueAt(object, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

const rolePrefix = 'node-role.kubernetes.io/';

function rolesOf({ metadata }: KubernetesObject): string {
  const labels = Object.entries(metadata.labels ?? {});
  const roles = labels.flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) return [key.slice(rolePrefix.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return [...new Set(roles)].toSorted().join(',') || '<none>';
}

function addressOf(object: KubernetesObject, type: string): string {
  const address = itemsOf(object, 'status', 'addresses').find((entry) => textAt(entry, 'type') === type);
  return address === undefined ? '<none>' : textAt(address, 'address');
}

function infoOf(object: KubernetesObject, name: string): string {
  return textAt(object, 'status', 'nodeInfo', name) || '<unknown>';
}
