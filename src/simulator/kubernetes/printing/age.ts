// Formats ages as kubectl's tables do: two units while the larger one has a small value, one otherwise.
import { textAt } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

interface Span {
  /** Applies to durations below this many seconds. */
  readonly below: number;
  readonly unit: string;
  readonly seconds: number;
  /** The second unit, shown unless zero. */
  readonly rest?: { readonly unit: string; readonly seconds: number };
}

const spans: readonly Span[] = [
  { below: 2 * minute, unit: 's', seconds: 1 },
  { below: 10 * minute, unit: 'm', seconds: minute, rest: { unit: 's', seconds: 1 } },
  { below: 3 * hour, unit: 'm', seconds: minute },
  { below: 8 * hour, unit: 'h', seconds: hour, rest: { unit: 'm', seconds: minute } },
  { below: 2 * day, unit: 'h', seconds: hour },
  { below: 8 * day, unit: 'd', seconds: day, rest: { unit: 'h', seconds: hour } },
  { below: 2 * year, unit: 'd', seconds: day },
  { below: 8 * year, unit: 'y', seconds: year, rest: { unit: 'd', seconds: day } },
  { below: Infinity, unit: 'y', seconds: year },
];

/** The age of a time, both in ms since the epoch; `<invalid>` for a time in the future. */
export function age(then: number, now: number): string {
  const seconds = Math.trunc((now - then) / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const span = spans.find(({ below }) => seconds < below);
  if (span === undefined) return '';
  const whole = `${Math.floor(seconds / span.seconds)}${span.unit}`;
  const rest = span.rest === undefined ? 0 : Math.floor((seconds % span.seconds) / span.rest.seconds);
  return rest === 0 || span.rest === undefined ? whole : `${whole}${rest}${span.rest.unit}`;
}

/** The age of a time on the wire. */
export function ageOfText(time: string, now: number): string {
  const then = Date.parse(time);
  return Number.isNaN(then) ? '<unknown>' : age(then, now);
}

/** The age of an object. */
export function ageOfObject(object: KubernetesObject, now: number): string {
  return ageOfText(textAt(object.metadata, 'creationTimestamp'), now);
}
