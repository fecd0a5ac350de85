// What an Event says and about what, and how the API server takes it.
//
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ (the older core/v1 form, which kubectl
// describe shows and which folds by count).
import type { JsonObject } from './json.ts';

/** What an event is about. Both kinds live in no namespace; their events live in `default`. */
export interface EventSubject {
  readonly kind: 'CiliumNode' | 'Node';
  readonly name: string;
  readonly uid?: string | undefined;
}

export interface EventReport {
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase, for machines. */
  readonly reason: string;
  /** A sentence for people. Without times and counters: reports with the same text fold into one event. */
  readonly message: string;
}

export interface EventOccurrences {
  readonly count: number;
  /** On the wall clock. */
  readonly first: number;
  readonly last: number;
}

export const eventsPath = '/api/v1/namespaces/default/events';

/** The API server refuses longer ones. */
const longestMessage = 1024;
const longestName = 253;

const apiVersions: Readonly<Record<EventSubject['kind'], string>> = {
  CiliumNode: 'cilium.io/v2',
  Node: 'v1',
};

/** A name for an event about `subject`: `unique` are hexadecimal digits. */
export function eventName(subject: EventSubject, unique: string): string {
  return `${subject.name.slice(0, longestName - 1 - unique.length)}.${unique}`;
}

export interface EventAuthor {
  readonly component: string;
  /** Which of its processes. */
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
    metadata: { name, namespace: 'default' },
    involvedObject: {
      apiVersion: apiVersions[subject.kind],
      kind: subject.kind,
      name: subject.name,
      ...uidOf(subject),
    },
    type: report.type,
    reason: report.reason,
    message: report.message.slice(0, longestMessage),
    firstTimestamp: time(occurrences.first),
    ...eventRepetition(occurrences),
    source: { component },
    reportingComponent: component,
    reportingInstance: instance,
  };
}

/** What changes of an event when it happens again. */
export function eventRepetition({ count, last }: EventOccurrences): JsonObject {
  return { count, lastTimestamp: time(last) };
}

/** kubectl describe finds the events of a Node by its name in place of a uid, as kubelets write them. */
function uidOf({ kind, name, uid }: EventSubject): { readonly uid?: string } {
  if (uid !== undefined) return { uid };
  return kind === 'Node' ? { uid: name } : {};
}

function time(wall: number): string {
  return new Date(wall).toISOString().replace(/\.\d+Z$/, 'Z');
}
