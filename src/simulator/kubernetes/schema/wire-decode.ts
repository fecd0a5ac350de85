// Decodes JSON as the API server decodes a built-in type: unknown fields are dropped and reported, empty fields are left
// out, a value of the wrong type is refused in the words of Go's decoder.
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';
import { DecodeError } from './decode-error.ts';
import type { StructShape, WireField, WireShape } from './wire-shape.ts';

export interface WireDecoded {
  readonly value: JsonObject;
  /** Paths of fields that the type does not know, in the order of the request. */
  readonly unknownFields: readonly string[];
}

/**
 * Decodes `value` as `shape`; throws `DecodeError`. Paths of unknown fields begin with `prefix`; those of errors don't,
 * as with the server.
 */
export function decodeWire(value: JsonValue, shape: StructShape, prefix = ''): WireDecoded {
  const unknownFields: string[] = [];
  const decoded = decodeStruct(value, shape, {
    path: [],
    indexed: prefix,
    struct: shape.name,
    unknownFields,
  });
  return { value: decoded, unknownFields };
}

interface Place {
  /** Field names down to here, as type errors show them: without indexes. */
  readonly path: readonly string[];
  /** The same with indexes and map keys, as unknown fields are named. */
  readonly indexed: string;
  /** The innermost struct. */
  readonly struct: string;
  readonly unknownFields: string[];
}

function decodeStruct(value: JsonValue, shape: StructShape, place: Place): JsonObject {
  if (value !== null && !isJsonObject(value)) throw wrongType(value, shape, place);
  const read = readFields(value ?? {}, shape, place);
  const decoded: Record<string, JsonValue> = {};
  for (const [name, field] of Object.entries(shape.fields)) {
    const result = written(read.get(name), field);
    if (result !== undefined) decoded[name] = result;
  }
  return decoded;
}

/** The fields in the order of the request: of several wrong ones, the first is refused. */
function readFields(source: JsonObject, shape: StructShape, place: Place): ReadonlyMap<string, JsonValue> {
  const read = new Map<string, JsonValue>();
  for (const [name, value] of Object.entries(source)) {
    const indexed = under(place.indexed, name);
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (field === undefined) place.unknownFields.push(indexed);
    else if (value !== null) {
      const inner = { ...place, struct: shape.name, path: [...place.path, name], indexed };
      read.set(name, decodeValue(value, field.shape, inner));
    }
  }
  return read;
}

const under = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function written(value: JsonValue | undefined, field: WireField): JsonValue | undefined {
  if (field.presence === 'always') return value ?? zeroOf(field.shape);
  return value !== undefined && field.presence === 'filled' && isEmpty(value, field.shape)
    ? undefined
    : value;
}

/** Structs are never empty to Go. */
function isEmpty(value: JsonValue, shape: WireShape): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  if (isJsonArray(value)) return value.length === 0;
  return shape.kind === 'map' && isJsonObject(value) && Object.keys(value).length === 0;
}

function zeroOf(shape: WireShape): JsonValue {
  if (shape.kind === 'struct') return decodeWire({}, shape).value;
  return shape.kind === 'scalar' ? shape.zero : null;
}

function decodeValue(value: JsonValue, shape: WireShape, place: Place): JsonValue {
  switch (shape.kind) {
    case 'struct':
      return decodeStruct(value, shape, place);
    case 'list':
      return decodeList(value, shape, place);
    case 'map':
      return decodeMap(value, shape, place);
    case 'scalar': {
      const read = shape.read(value);
      if (read === undefined) throw wrongType(value, shape, place);
      return read;
    }
  }
}

function decodeList(value: JsonValue, shape: WireShape & { readonly kind: 'list' }, place: Place): JsonValue {
  if (!isJsonArray(value)) throw wrongType(value, shape, place);
  return value.map((item, index) => {
    const inner = { ...place, indexed: `${place.indexed}[${index}]` };
    return item === null ? zeroOf(shape.items) : decodeValue(item, shape.items, inner);
  });
}

function decodeMap(value: JsonValue, shape: WireShape & { readonly kind: 'map' }, place: Place): JsonValue {
  if (!isJsonObject(value)) throw wrongType(value, shape, place);
  const decoded: Record<string, JsonValue> = {};
  for (const key of Object.keys(value).toSorted()) {
    const inner = { ...place, indexed: under(place.indexed, key) };
    const item = value[key] ?? null;
    decoded[key] = item === null ? zeroOf(shape.values) : decodeValue(item, shape.values, inner);
  }
  return decoded;
}

function wrongType(value: JsonValue, shape: WireShape, place: Place): DecodeError {
  const into = place.path.length === 0 ? 'value' : `struct field ${place.struct}.${place.path.join('.')}`;
  return new DecodeError(
    `json: cannot unmarshal ${jsonTypeOf(value)} into Go ${into} of type ${goTypeOf(shape)}`,
  );
}

function jsonTypeOf(value: JsonValue): string {
  if (isJsonArray(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function goTypeOf(shape: WireShape): string {
  switch (shape.kind) {
    case 'list':
      return `[]${goTypeOf(shape.items)}`;
    case 'map':
      return `map[string]${goTypeOf(shape.values)}`;
    case 'struct':
      return `v1.${shape.name}`;
    case 'scalar':
      return shape.goType;
  }
}
