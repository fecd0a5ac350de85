// The table columns of pods.
import { type JsonValue, textAt, valueAt } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { itemsOf } from '../objects/object-parts.ts';
import { ageOfText } from './age.ts';
import { ageColumn, nameColumn, type TableColumn } from './table-column.ts';

const column = (
  name: string,
  description: string,
  priority: number,
  cell: TableColumn['cell'],
): TableColumn => ({ name, type: 'string', format: '', description, priority, cell });

const orNone = (text: string): string => text || '<none>';

export const podColumns: readonly TableColumn[] = [
  nameColumn,
  column('Ready', 'How many of the containers are ready', 0, readyOf),
  column('Status', 'What the containers are doing', 0, statusOf),
  column('Restarts', 'How often containers were restarted, and when the last was', 0, restartsOf),
  ageColumn,
  column('IP', 'Address of the pod', 1, (pod) => orNone(textAt(itemsOf(pod, 'status', 'podIPs')[0], 'ip'))),
  column('Node', 'The node that the pod is on', 1, (pod) => orNone(textAt(pod, 'spec', 'nodeName'))),
  column('Nominated Node', 'The node that is being cleared for the pod', 1, (pod) =>
    orNone(textAt(pod, 'status', 'nominatedNodeName')),
  ),
  column('Readiness Gates', 'How many of the further conditions for readiness are met', 1, gatesOf),
];

function readyOf(pod: KubernetesObject): string {
  const ready = itemsOf(pod, 'status', 'containerStatuses').filter(isRunningReady).length;
  return `${ready}/${itemsOf(pod, 'spec', 'containers').length}`;
}

function isRunningReady(status: JsonValue): boolean {
  return valueAt(status, 'ready') === true && valueAt(status, 'state', 'running') !== undefined;
}

function statusOf(pod: KubernetesObject): string {
  const phase = textAt(pod, 'status', 'phase');
  if (pod.metadata.deletionTimestamp !== undefined && phase !== 'Failed' && phase !== 'Succeeded')
    return 'Terminating';
  const initial = textAt(pod, 'status', 'reason') || phase;
  const gated = itemsOf(pod, 'status', 'conditions').some(
    (condition) => textAt(condition, 'reason') === 'SchedulingGated',
  );
  return initializing(pod) ?? containersReason(pod) ?? (gated ? 'SchedulingGated' : initial);
}

/** The reason of the first container that has one, unless it is `Completed` while another container runs. */
function containersReason(pod: KubernetesObject): string | undefined {
  const statuses = itemsOf(pod, 'status', 'containerStatuses');
  const reason = statuses.map(containerReason).find((found) => found !== undefined);
  if (reason !== 'Completed' || !statuses.some(isRunningReady)) return reason;
  return isTrue(pod, 'Ready') ? 'Running' : 'NotReady';
}

function containerReason(status: JsonValue): string | undefined {
  const waiting = textAt(status, 'state', 'waiting', 'reason');
  if (waiting !== '') return waiting;
  const terminated = valueAt(status, 'state', 'terminated');
  return terminated === undefined ? undefined : terminationReason(terminated);
}

function terminationReason(terminated: JsonValue): string {
  const signal = valueAt(terminated, 'signal') ?? 0;
  const exit =
    signal === 0
      ? `ExitCode:${numberText(terminated, 'exitCode')}`
      : `Signal:${numberText(terminated, 'signal')}`;
  return textAt(terminated, 'reason') || exit;
}

function numberText(value: JsonValue, name: string): string {
  const number = valueAt(value, name);
  return typeof number === 'number' ? String(number) : '0';
}

/** The state of the first init container that has not succeeded. */
function initializing(pod: KubernetesObject): string | undefined {
  const statuses = itemsOf(pod, 'status', 'initContainerStatuses');
  const index = statuses.findIndex((status) => valueAt(status, 'state', 'terminated', 'exitCode') !== 0);
  const status = statuses[index];
  if (status === undefined || isTrue(pod, 'Initialized')) return undefined;
  const terminated = valueAt(status, 'state', 'terminated');
  if (terminated !== undefined) return `Init:${terminationReason(terminated)}`;
  const waiting = textAt(status, 'state', 'waiting', 'reason');
  const total = itemsOf(pod, 'spec', 'initContainers').length;
  return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${index}/${total}`;
}

function isTrue(pod: KubernetesObject, type: string): boolean {
  const condition = itemsOf(pod, 'status', 'conditions').find((entry) => textAt(entry, 'type') === type);
  return textAt(condition, 'status') === 'True';
}

function restartsOf(pod: KubernetesObject, now: number): string {
  const statuses = itemsOf(pod, 'status', 'containerStatuses');
  const restarts = statuses.reduce<number>(
    (sum, status) => sum + Number(numberText(status, 'restartCount')),
    0,
  );
  const ends = statuses
    .map((status) => textAt(status, 'lastState', 'terminated', 'finishedAt'))
    .filter(Boolean);
  const last = ends.toSorted().at(-1);
  return restarts === 0 || last === undefined
    ? String(restarts)
    : `${restarts} (${ageOfText(last, now)} ago)`;
}

function gatesOf(pod: KubernetesObject): string {
  const gates = itemsOf(pod, 'spec', 'readinessGates');
  if (gates.length === 0) return '<none>';
  return `${gates.filter((gate) => isTrue(pod, textAt(gate, 'conditionType'))).length}/${gates.length}`;
}
