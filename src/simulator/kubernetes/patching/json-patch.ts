// JSON patch (RFC 6902). As in the API server, replacing a missing field adds it, and a patch that cannot be
// applied is refused without a reason.
import { badRequest, StatusError } from '../api-status.ts';
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sameJson,
  withoutFields,
} from '../json-value.ts';

export interface JsonPatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: JsonValue;
}

/** Throws `StatusError` for anything but a list of operations. */
export function jsonPatchOf(value: JsonValue): readonly JsonPatchOperation[] {
  if (!isJsonArray(value)) throw notOperations(value);
  return value.map((operation) => {
    if (!isJsonObject(operation)) throw notOperations(operation);
    const { op, path, from, value: given } = operation;
    return { op: textOf(op), path: textOf(path), from: textOf(from), value: given ?? null };
  });
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function notOperations(value: JsonValue): StatusError {
  const type = isJsonArray(value) ? 'array' : typeof value;
  return badRequest(
    `error decoding patch: json: cannot unmarshal ${type} into Go value of type []handlers.jsonPatchOp`,
  );
}

/** Throws `StatusError` if an operation fails. */
export function applyJsonPatch(target: JsonObject, operations: readonly JsonPatchOperation[]): JsonObject {
  const result = operations.reduce<JsonValue>(applyOperation, target);
  if (!isJsonObject(result)) throw inapplicable();
  return result;
}

function applyOperation(target: JsonValue, operation: JsonPatchOperation): JsonValue {
  const path = segmentsOf(operation.path);
  switch (operation.op) {
    case 'add':
      return changed(target, path, (parent, name) => inserted(parent, name, operation.value));
    case 'replace':
      return changed(target, path, (parent, name) => replaced(parent, name, operation.value));
    case 'remove':
      return changed(target, path, removed);
    case 'copy': {
      const value = foundOrNull(target, segmentsOf(operation.from));
      return changed(target, path, (parent, name) => inserted(parent, name, value));
    }
    case 'move': {
      const from = segmentsOf(operation.from);
      const value = found(target, from);
      return changed(changed(target, from, removed), path, (parent, name) => inserted(parent, name, value));
    }
    case 'test':
      if (!sameJson(foundOrNull(target, path), operation.value)) throw inapplicable();
      return target;
    default:
      throw inapplicable();
  }
}

function segmentsOf(pointer: string): readonly string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw inapplicable();
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

type Change = (parent: JsonValue, name: string) => JsonValue;

/** `value` with the parent of the path's last segment changed. */
function changed(value: JsonValue, path: readonly string[], change: Change): JsonValue {
  const [name, ...rest] = path;
  if (name === undefined) throw inapplicable();
  if (rest.length === 0) return change(value, name);
  return replaced(value, name, changed(found(value, [name]), rest, change));
}

function inserted(parent: JsonValue, name: string, value: JsonValue): JsonValue {
  if (!isJsonArray(parent)) return replaced(parent, name, value);
  return parent.toSpliced(name === '-' ? parent.length : indexIn(parent, name, parent.length), 0, value);
}

function replaced(parent: JsonValue, name: string, value: JsonValue): JsonValue {
  if (isJsonArray(parent)) return parent.with(indexIn(parent, name, parent.length - 1), value);
  if (!isJsonObject(parent)) throw inapplicable();
  return { ...parent, [name]: value };
}

function removed(parent: JsonValue, name: string): JsonValue {
  if (isJsonArray(parent)) return parent.toSpliced(indexIn(parent, name, parent.length - 1), 1);
  if (!isJsonObject(parent) || !Object.hasOwn(parent, name)) throw inapplicable();
  return withoutFields(parent, name);
}

function indexIn(items: readonly JsonValue[], name: string, last: number): number {
  const index = /^-?\d+$/.test(name) ? Number(name) : Number.NaN;
  const absolute = index < 0 ? items.length + index : index;
  if (Number.isNaN(absolute) || absolute < 0 || absolute > last) throw inapplicable();
  return absolute;
}

function found(value: JsonValue, path: readonly string[]): JsonValue {
  const result = lookUp(value, path);
  if (result === undefined) throw inapplicable();
  return result;
}

/** For tests and copies, absent equals null. */
function foundOrNull(value: JsonValue, path: readonly string[]): JsonValue {
  return lookUp(value, path) ?? null;
}

function lookUp(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((parent, name) => {
    if (isJsonArray(parent)) return parent[indexIn(parent, name, parent.length - 1)];
    return isJsonObject(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined;
  }, value);
}

function inapplicable(): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return new StatusError({ code: 422, reason: 'Invalid', message, details: {} });
}
