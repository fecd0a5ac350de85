// The fields of events, with the names of the core group and of the events group.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
import { int32, microTime, text, time } from '../../schema/scalars.ts';
import { always, given, struct, type WireField, type WireShape } from '../../schema/wire-shape.ts';

const reference = struct('ObjectReference', {
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  apiVersion: text,
  resourceVersion: text,
  fieldPath: text,
});

const source = struct('EventSource', { component: text, host: text });

const coreSeries = struct('EventSeries', { count: int32, lastObservedTime: always(microTime) });
const series = struct('EventSeries', { count: always(int32), lastObservedTime: always(microTime) });

type Fields = Readonly<Record<string, WireField | WireShape>>;

export const coreEventFields: Fields = {
  involvedObject: always(reference),
  reason: text,
  message: text,
  source: always(source),
  firstTimestamp: always(time),
  lastTimestamp: always(time),
  count: int32,
  type: text,
  eventTime: always(microTime),
  series: given(coreSeries),
  action: text,
  related: given(reference),
  reportingComponent: always(text),
  reportingInstance: always(text),
};

export const eventFields: Fields = {
  eventTime: always(microTime),
  series: given(series),
  reportingController: text,
  reportingInstance: text,
  action: text,
  reason: text,
  regarding: always(reference),
  related: given(reference),
  note: text,
  type: text,
  deprecatedSource: always(source),
  deprecatedFirstTimestamp: always(time),
  deprecatedLastTimestamp: always(time),
  deprecatedCount: int32,
};
