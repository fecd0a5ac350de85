// Plain JSON in the model: read-only types, comparison and freezing. Knows nothing of Kubernetes.

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Whether both are equal; the order of an object's fields does not count. */
export function sameJson(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true;
  if (isJsonArray(left)) return isJsonArray(right) && sameItems(left, right);
  return isJsonObject(left) && isJsonObject(right) && sameFields(left, right);
}

function sameItems(left: readonly JsonValue[], right: readonly JsonValue[]): boolean {
  return left.length === right.length && left.every((item, index) => sameJson(item, right[index]));
}

function sameFields(left: JsonObject, right: JsonObject): boolean {
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && sameJson(left[name], right[name]));
}

/** Freezes the whole value and returns it. A frozen value counts as deeply frozen. */
export function deepFreeze<Value extends JsonValue>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}

/** The value at a path of field names; undefined if the path leaves the objects. */
export function valueAt(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let found = value;
  for (const name of path) {
    if (!isJsonObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/** The string at a path of field names; empty for anything else. */
export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** A copy without the named fields. */
export function withoutFields(value: JsonObject, ...names: readonly string[]): JsonObject {
  // A request may contain a field "__proto__". Assigning it would set the prototype.
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** A copy without undefined fields, so that one literal can list optional fields. */
export function definedFields(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const defined: Record<string, JsonValue> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined) defined[name] = value;
  }
  return defined;
}
