// Validation of a custom resource against its schema. Objects are walked in the order of their fields and of the schema, so
// that the same object always gives the same list: the real server's order is left to chance.
import { type FieldError, invalid, required, tooMany } from '../field-error.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';
import { enumErrors, inBody, numberErrors, stringErrors, typeErrors } from './scalar-rules.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** What is wrong with `value`. Messages name paths from `value` on; fields are named with `prefix` before them. */
export function validateSchema(
  value: JsonValue,
  schema: StructuralSchema,
  prefix = '',
): readonly FieldError[] {
  const errors = validateValue(value, schema, '');
  return prefix === '' ? errors : errors.map((error) => ({ ...error, field: under(prefix, error.field) }));
}

function under(path: string, name: string): string {
  return path === '' || name === '' ? path + name : `${path}.${name}`;
}

const none: readonly FieldError[] = [];
/** Values of stored objects, which never change, that fit a schema. */
const fitting = new WeakMap<object, StructuralSchema>();

function validateValue(value: JsonValue, schema: StructuralSchema, path: string): readonly FieldError[] {
  const isCompound = typeof value === 'object' && value !== null;
  if (isCompound && fitting.get(value) === schema) return none;
  const errors = [
    ...typeErrors(value, schema, path),
    ...constraintErrors(value, schema, path),
    ...enumErrors(value, schema, path),
  ];
  if (isCompound && errors.length === 0 && Object.isFrozen(value)) fitting.set(value, schema);
  return errors;
}

function constraintErrors(value: JsonValue, schema: StructuralSchema, path: string): readonly FieldError[] {
  if (typeof value === 'string') return stringErrors(value, schema, path);
  if (typeof value === 'number') return numberErrors(value, schema, path);
  if (isJsonArray(value)) return arrayErrors(value, schema, path);
  return isJsonObject(value) ? objectErrors(value, schema, path) : [];
}

function arrayErrors(
  value: readonly JsonValue[],
  schema: StructuralSchema,
  path: string,
): readonly FieldError[] {
  const { items = {}, minItems = 0, maxItems = Infinity } = schema;
  const errors = value.flatMap((item, index) => validateValue(item, items, `${path}[${index}]`));
  const few = inBody(path, `should have at least ${minItems} items`);
  return [
    ...errors,
    ...(value.length < minItems ? [invalid(path, value.length, few)] : []),
    ...(value.length > maxItems ? [tooMany(path, value.length, maxItems)] : []),
  ];
}

function objectErrors(value: JsonObject, schema: StructuralSchema, path: string): readonly FieldError[] {
  const { minProperties = 0, maxProperties = Infinity, required: names = [] } = schema;
  const size = Object.keys(value).length;
  const few = inBody(path, `should have at least ${minProperties} properties`);
  return [
    ...(size < minProperties ? [invalid(path, size, few)] : []),
    ...(size > maxProperties ? [tooMany(path, size, maxProperties)] : []),
    ...otherPropertyErrors(value, schema, path),
    ...propertyErrors(value, schema, path),
    ...names.filter((name) => !Object.hasOwn(value, name)).map((name) => required(under(path, name))),
  ];
}

function otherPropertyErrors(
  value: JsonObject,
  schema: StructuralSchema,
  path: string,
): readonly FieldError[] {
  const { additionalProperties, properties = {} } = schema;
  if (typeof additionalProperties !== 'object') return [];
  return Object.entries(value)
    .filter(([name]) => !Object.hasOwn(properties, name))
    .flatMap(([name, field]) => validateValue(field, additionalProperties, `${path}.${name}`));
}

function propertyErrors(value: JsonObject, schema: StructuralSchema, path: string): readonly FieldError[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const given = value[name];
    return given === undefined ? [] : validateValue(given, field, under(path, name));
  });
}
