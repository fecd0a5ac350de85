// The table columns of events.
import { textAt, valueAt } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { ageOfText } from './age.ts';
import { nameColumn, type TableColumn } from './table-column.ts';

const column = (
  name: string,
  description: string,
  priority: number,
  cell: TableColumn['cell'],
): TableColumn => ({ name, type: 'string', format: '', description, priority, cell });

/** For events in the form of the core group. */
export const eventColumns: readonly TableColumn[] = [
  column('Last Seen', 'When it was last seen', 0, lastSeen),
  column('Type', 'Normal or Warning', 0, (event) => textAt(event, 'type')),
  column('Reason', 'Why, for machines', 0, (event) => textAt(event, 'reason')),
  column('Object', 'What it is about', 0, objectOf),
  column('Subobject', 'Which part of that', 1, (event) => textAt(event, 'involvedObject', 'fieldPath')),
  column('Source', 'Who reports it', 1, sourceOf),
  column('Message', 'What happened, for people', 0, (event) => textAt(event, 'message').trim()),
  column('First Seen', 'When it was first seen', 1, firstSeen),
  column('Count', 'How often it was seen', 1, countOf),
  { ...nameColumn, priority: 1 },
];

function firstSeen(event: KubernetesObject, now: number): string {
  return ageOfText(textAt(event, 'firstTimestamp') || textAt(event, 'eventTime'), now);
}

function lastSeen(event: KubernetesObject, now: number): string {
  const observed = textAt(event, 'series', 'lastObservedTime') || textAt(event, 'lastTimestamp');
  return observed === '' ? firstSeen(event, now) : ageOfText(observed, now);
}

function objectOf(event: KubernetesObject): string {
  const kind = textAt(event, 'involvedObject', 'kind').toLowerCase();
  const name = textAt(event, 'involvedObject', 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

function sourceOf(event: KubernetesObject): string {
  const component = textAt(event, 'source', 'component') || textAt(event, 'reportingComponent');
  const instance = textAt(event, 'source', 'host') || textAt(event, 'reportingInstance');
  return instance === '' ? component : `${component}, ${instance}`;
}

function countOf(event: KubernetesObject): number {
  const count = valueAt(event, 'series', 'count') ?? valueAt(event, 'count');
  return typeof count === 'number' && count > 0 ? count : 1;
}
