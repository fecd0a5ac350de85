// Validates events. The core group accepts almost anything; the events group is strict. Both are validated in
// the core form, in which events are stored.
import { type FieldError, invalid, required } from '../../field-error.ts';
import { textAt, valueAt } from '../../json-value.ts';
import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { immutable } from '../../objects/metadata-rules.ts';
import { qualifiedName } from '../../objects/names.ts';

/** Errors in an event of either group; `controllerField` is that group's name for the reporter. */
export function eventErrors(event: KubernetesObject, controllerField: string): readonly FieldError[] {
  const { namespace = '' } = event.metadata;
  const about = textAt(event, 'involvedObject', 'namespace');
  const clash = invalid('involvedObject.namespace', about, 'does not match event.namespace');
  if (valueAt(event, 'eventTime') === null) {
    const agree = about === '' ? namespace === 'default' : about === namespace;
    return agree ? [] : [clash];
  }
  const anywhere = about !== '' || namespace === 'default' || namespace === 'kube-system';
  return [...(anywhere ? [] : [clash]), ...reportErrors(event, controllerField)];
}

const max: Readonly<Record<string, number>> = {
  reportingInstance: 128,
  action: 128,
  reason: 128,
  message: 1024,
};

function reportErrors(event: KubernetesObject, controllerField: string): readonly FieldError[] {
  const controller = textAt(event, 'reportingComponent');
  const missing = controller === '' ? [required(controllerField)] : [];
  const malformed = qualifiedName(controller).map((problem) => invalid(controllerField, controller, problem));
  const fields = ['reportingInstance', 'action', 'reason', 'message'].flatMap((field) => {
    const value = textAt(event, field);
    const limit = max[field] ?? 0;
    if (value === '' && field !== 'message') return [required(field)];
    return Buffer.byteLength(value) > limit
      ? [invalid(field, '', `can have at most ${limit} characters`)]
      : [];
  });
  return [...missing, ...malformed, ...fields];
}

/** Additional rules of the events group. */
export function strictEventErrors(event: KubernetesObject): readonly FieldError[] {
  const type = textAt(event, 'type');
  const known = type === 'Normal' || type === 'Warning';
  const unset = ['firstTimestamp', 'lastTimestamp', 'count', 'source'].filter((field) => isSet(event, field));
  return [
    ...seriesErrors(event),
    ...(valueAt(event, 'eventTime') === null ? [required('eventTime')] : []),
    ...(known ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...unset.map((field) => invalid(field, '', 'needs to be unset')),
  ];
}

function isSet(event: KubernetesObject, field: string): boolean {
  if (field === 'source') return textAt(event, field, 'component') + textAt(event, field, 'host') !== '';
  return (valueAt(event, field) ?? null) !== null;
}

function seriesErrors(event: KubernetesObject): readonly FieldError[] {
  const series = valueAt(event, 'series');
  if (series === undefined) return [];
  const count = Number(valueAt(series, 'count') ?? 0);
  return [
    ...(count < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(textAt(series, 'lastObservedTime') === '' ? [required('series.lastObservedTime')] : []),
  ];
}

const fixed: readonly string[] = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
];

/** In the events group only the series of an event may change. */
export function strictEventUpdateErrors(
  next: KubernetesObject,
  current: KubernetesObject,
): readonly FieldError[] {
  return fixed.flatMap((field) => {
    const shown = field === 'reportingComponent' ? 'reportingController' : field;
    return immutable(shown, next[field], current[field]);
  });
}
