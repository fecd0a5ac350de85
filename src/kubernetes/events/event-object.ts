// Builds Event objects as the API server accepts them.
//
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ (the older core/v1 form, which
// kubectl describe shows and which aggregates by count).
import type { JsonObject } from '../../runtime/json.ts';

/** The object of an event. Events live in its namespace, or in `default` for a cluster-scoped object. */
export interface EventSubject {
  readonly kind: 'CiliumNode' | 'CiliumPodIPPool' | 'Node' | 'Lease';
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string | undefined;
}

export interface EventReport {
  readonly type: 'Normal' | 'Warning';
  /** A CamelCase word, for machines. */
  readonly reason: string;
  /** A sentence for people, without times and counters: reports with the same text share one event. */
  readonly message: string;
}

/** Records events, without waiting for the API server. */
export interface EventSink {
  record(subject: EventSubject, report: EventReport): void;
  /** Records a report that concerns all that is served. */
  recordOnLease(report: EventReport): void;
}

export interface EventOccurrences {
  readonly count: number;
  /** Wall clock. */
  readonly first: number;
  readonly last: number;
}

export function eventsPath({ namespace = 'default' }: EventSubject): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
}

/** Limits of the API server. */
const maxMessageCharacters = 1024;
const maxNameCharacters = 253;

const apiVersions: Readonly<Record<EventSubject['kind'], string>> = {
  CiliumNode: 'cilium.io/v2',
  CiliumPodIPPool: 'cilium.io/v2alpha1',
  Node: 'v1',
  Lease: 'coordination.k8s.io/v1',
};

/** Names an event about `subject`; `unique` is hexadecimal. */
export function eventName(subject: EventSubject, unique: string): string {
  return `${subject.name.slice(0, maxNameCharacters - 1 - unique.length)}.${unique}`;
}

export interface EventAuthor {
  readonly component: string;
  /** The process that reports. */
  readonly instance: string;
}

export function eventObject(
  name: string,
  {
    subject,
    report,
    occurrences,
  }: { subject: EventSubject; report: EventReport; occurrences: EventOccurrences },
  { component, instance }: EventAuthor,
): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: subject.namespace ?? 'default' },
    involvedObject: {
      apiVersion: apiVersions[subject.kind],
      kind: subject.kind,
      name: subject.name,
      ...(subject.namespace !== undefined && { namespace: subject.namespace }),
      ...uidOf(subject),
    },
    type: report.type,
    reason: report.reason,
    message: report.message.slice(0, maxMessageCharacters),
    firstTimestamp: time(occurrences.first),
    ...eventRepetition(occurrences),
    source: { component },
    reportingComponent: component,
    reportingInstance: instance,
  };
}

/** The fields that change when an event repeats. */
export function eventRepetition({ count, last }: EventOccurrences): JsonObject {
  return { count, lastTimestamp: time(last) };
}

/** kubectl describe finds the events of a Node by its name as uid, which is what kubelets write. */
function uidOf({ kind, name, uid }: EventSubject): { readonly uid?: string } {
  if (uid !== undefined) return { uid };
  return kind === 'Node' ? { uid: name } : {};
}

function time(wall: number): string {
  return new Date(wall).toISOString().replace(/\.\d+Z$/, 'Z');
}
