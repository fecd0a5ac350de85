// Changes members of an answer wherever they are, for answers that are wrong on purpose.
import { isObject, type Json, type JsonObject } from '../workload/json.ts';

/** The change of a member; undefined removes it. */
export type Change = (name: string, value: Json | undefined) => Json | undefined;

/** The object with every member changed, at any depth. */
export function mapMembers(object: JsonObject, change: Change): JsonObject {
  return Object.fromEntries(
    Object.entries(object)
      .map(([name, value]) => [name, deepen(change(name, value), change)] as const)
      .filter(([, value]) => value !== undefined),
  );
}

function deepen(value: Json | undefined, change: Change): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => deepen(item, change) ?? null);
  return isObject(value) ? mapMembers(value, change) : value;
}
