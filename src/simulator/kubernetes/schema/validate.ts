// Validates a custom resource against its schema. Walks objects in field and schema order, so the same object
// always gives the same list. The real server's order is random.
import { type FieldError, invalid, required, tooMany } from '../field-error.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';
import {
  enumErrors,
  inBody,
  isOfItsType,
  numberErrors,
  restrictsNumbers,
  restrictsTexts,
  stringErrors,
  typeErrors,
} from './scalar-rules.ts';
import type { StructuralSchema } from './structural-schema.ts';
import { pathOf, type ValuePlace } from './value-place.ts';

/** Errors in `value`. Messages use paths below `value`; fields have `prefix` before them. */
export function validateSchema(
  value: JsonValue,
  schema: StructuralSchema,
  prefix = '',
): readonly FieldError[] {
  const errors: FieldError[] = [];
  validateValue(value, schema, { up: undefined, step: '', errors });
  return prefix === '' ? errors : errors.map((error) => ({ ...error, field: under(prefix, error.field) }));
}

interface Place extends ValuePlace {
  readonly errors: FieldError[];
}

function under(path: string, name: string): string {
  return path === '' || name === '' ? path + name : `${path}.${name}`;
}

/** Immutable values of stored objects that match a schema. */
const fitting = new WeakMap<object, StructuralSchema>();

function validateValue(value: JsonValue, schema: StructuralSchema, place: Place): void {
  if (typeof value !== 'object' || value === null) {
    validateAlone(value, schema, place);
    return;
  }
  if (fitting.get(value) === schema) return;
  const before = place.errors.length;
  validateAlone(value, schema, place);
  if (place.errors.length === before && Object.isFrozen(value)) fitting.set(value, schema);
}

function validateAlone(value: JsonValue, schema: StructuralSchema, place: Place): void {
  const { errors } = place;
  if (!isOfItsType(value, schema)) errors.push(...typeErrors(value, schema, pathOf(place)));
  if (typeof value === 'string') validateText(value, schema, place);
  else if (typeof value === 'number') validateNumber(value, schema, place);
  else if (isJsonArray(value)) validateItems(value, schema, place);
  else if (isJsonObject(value)) validateFields(value, schema, place);
  if (schema.enum !== undefined) errors.push(...enumErrors(value, schema, pathOf(place)));
}

function validateText(value: string, schema: StructuralSchema, place: Place): void {
  if (restrictsTexts(schema)) place.errors.push(...stringErrors(value, schema, pathOf(place)));
}

function validateNumber(value: number, schema: StructuralSchema, place: Place): void {
  if (restrictsNumbers(schema)) place.errors.push(...numberErrors(value, schema, pathOf(place)));
}

function validateItems(value: readonly JsonValue[], schema: StructuralSchema, place: Place): void {
  const { items = {}, minItems = 0, maxItems = Infinity } = schema;
  const { errors } = place;
  for (const [step, item] of value.entries()) validateValue(item, items, { up: place, step, errors });
  if (value.length < minItems) {
    const path = pathOf(place);
    errors.push(invalid(path, value.length, inBody(path, `should have at least ${minItems} items`)));
  }
  if (value.length > maxItems) errors.push(tooMany(pathOf(place), value.length, maxItems));
}

function validateFields(value: JsonObject, schema: StructuralSchema, place: Place): void {
  const { minProperties = 0, maxProperties = Infinity, required: names = [] } = schema;
  const { errors } = place;
  const size = Object.keys(value).length;
  if (size < minProperties) {
    const path = pathOf(place);
    errors.push(invalid(path, size, inBody(path, `should have at least ${minProperties} properties`)));
  }
  if (size > maxProperties) errors.push(tooMany(pathOf(place), size, maxProperties));
  validateOthers(value, schema, place);
  validateProperties(value, schema, place);
  for (const name of names)
    if (!Object.hasOwn(value, name)) errors.push(required(under(pathOf(place), name)));
}

/** Validates the fields that the schema does not name. */
function validateOthers(value: JsonObject, schema: StructuralSchema, place: Place): void {
  const { additionalProperties, properties = {} } = schema;
  if (typeof additionalProperties !== 'object') return;
  const { errors } = place;
  for (const step of Object.keys(value)) {
    if (Object.hasOwn(properties, step)) continue;
    validateValue(value[step] as JsonValue, additionalProperties, { up: place, step, errors });
  }
}

function validateProperties(value: JsonObject, { properties = {} }: StructuralSchema, place: Place): void {
  const { errors } = place;
  for (const step of Object.keys(properties)) {
    const given = value[step];
    if (given === undefined) continue;
    validateValue(given, properties[step] as StructuralSchema, { up: place, step, errors });
  }
}
