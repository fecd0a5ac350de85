// Who wrote which part of an object, as the API server notes it:
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
import { isList, type Json, type JsonObject, memberOf, textAt, valueAt } from './json.ts';

/** The one that last wrote something at or below `path`; undefined where the object does not say. */
export function lastManagerOf(raw: JsonObject, ...path: readonly string[]): string | undefined {
  const noted = valueAt(raw, 'metadata', 'managedFields');
  if (!isList(noted)) return undefined;
  const fields = path.map((member) => `f:${member}`);
  const writers = noted.filter((entry) => valueAt(memberOf(entry, 'fieldsV1'), ...fields) !== undefined);
  const latest = writers.toSorted((a, b) => timeOf(b) - timeOf(a))[0];
  return textAt(latest, 'manager');
}

function timeOf(entry: Json): number {
  const time = Date.parse(textAt(entry, 'time') ?? '');
  return Number.isNaN(time) ? -Infinity : time;
}
