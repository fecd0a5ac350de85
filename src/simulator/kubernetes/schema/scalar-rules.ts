// Validates a single value against its schema, without its content: type, length, range, format, enum. Uses
// the texts of the API server's OpenAPI validator.
import { type FieldError, invalid, notSupported, tooLong, typeInvalid } from '../field-error.ts';
import { quoted } from '../go-text.ts';
import { isJsonArray, type JsonValue, sameJson } from '../json-value.ts';
import { stringFormat } from './formats.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** `spec.replicas in body should be ...` */
export function inBody(path: string, rule: string): string {
  return `${path} in body ${rule}`;
}

/** Whether the value has the schema's type, if there is one. */
export function isOfItsType(value: JsonValue, schema: StructuralSchema): boolean {
  // Fast path for most values.
  if (typeof value !== 'object' && typeof value === schema.type) return true;
  const types = typesOf(schema);
  return types.length === 0 || isOfType(typeOf(value), types, schema);
}

export function typeErrors(value: JsonValue, schema: StructuralSchema, path: string): readonly FieldError[] {
  const types = typesOf(schema);
  const actual = typeOf(value);
  if (types.length === 0 || isOfType(actual, types, schema)) return [];
  const wanted = namedByFormat(actual, types, schema) ?? { type: types.join(','), actual };
  return [
    typeInvalid(
      path,
      wanted.actual,
      inBody(path, `must be of type ${wanted.type}: ${quoted(wanted.actual)}`),
    ),
  ];
}

function typesOf(schema: StructuralSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (isJsonArray(value)) return 'array';
  if (typeof value === 'number') return isInt64(value) ? 'integer' : 'number';
  return typeof value;
}

/** JSON numbers that the server reads as 64-bit integers; others become floating point. */
function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value <= 2 ** 63;
}

/** For strings and lists with a format only the format counts, as in the real server. */
function isOfType(actual: string, types: readonly string[], schema: StructuralSchema): boolean {
  if (actual === 'null') return schema.nullable === true;
  if (types.includes(actual) || (actual === 'integer' && types.includes('number'))) return true;
  return isFormatted(types, schema) && (actual === 'string' || actual === 'array');
}

function isFormatted(types: readonly string[], schema: StructuralSchema): boolean {
  return schema.format !== undefined && !types.includes('integer') && !types.includes('number');
}

const goFormats: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };

/** For a value with a format, the error names the format instead of the type. */
function namedByFormat(
  actual: string,
  types: readonly string[],
  schema: StructuralSchema,
): { readonly type: string; readonly actual: string } | undefined {
  if (actual === 'null' || !isFormatted(types, schema)) return undefined;
  return { type: schema.format ?? '', actual: goFormats[actual] ?? '' };
}

/** Whether the schema restricts strings beyond their type. */
export function restrictsTexts({ minLength, maxLength, pattern, format }: StructuralSchema): boolean {
  return minLength !== undefined || maxLength !== undefined || pattern !== undefined || format !== undefined;
}

export function stringErrors(value: string, schema: StructuralSchema, path: string): readonly FieldError[] {
  return [...firstTextError(value, schema, path), ...formatErrors(value, schema, path)];
}

/** Checks length and pattern; returns the first error. */
function firstTextError(value: string, schema: StructuralSchema, path: string): readonly FieldError[] {
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  const length = Array.from(value).length;
  if (length > maxLength) return [tooLong(path, maxLength)];
  if (length < minLength)
    return [invalid(path, value, inBody(path, `should be at least ${minLength} chars long`))];
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return [];
  return [invalid(path, value, inBody(path, `should match '${pattern}'`))];
}

function formatErrors(value: string, { format = '' }: StructuralSchema, path: string): readonly FieldError[] {
  const accepts = stringFormat(format);
  if (accepts === undefined || accepts(value)) return [];
  return [typeInvalid(path, value, inBody(path, `must be of type ${format}: ${quoted(value)}`))];
}

interface Limit {
  readonly limit: number | undefined;
  readonly keeps: (value: number, limit: number) => boolean;
  readonly rule: string;
}

const above: Omit<Limit, 'limit'> = { keeps: (value, limit) => value > limit, rule: 'greater than' };
const atLeast: Omit<Limit, 'limit'> = {
  keeps: (value, limit) => value >= limit,
  rule: 'greater than or equal to',
};
const below: Omit<Limit, 'limit'> = { keeps: (value, limit) => value < limit, rule: 'less than' };
const atMost: Omit<Limit, 'limit'> = {
  keeps: (value, limit) => value <= limit,
  rule: 'less than or equal to',
};
const multiple: Omit<Limit, 'limit'> = {
  keeps: (value, limit) => value % limit === 0,
  rule: 'a multiple of',
};

/** Whether the schema restricts numbers beyond their type. */
export function restrictsNumbers({ multipleOf, minimum, maximum }: StructuralSchema): boolean {
  return multipleOf !== undefined || minimum !== undefined || maximum !== undefined;
}

export function numberErrors(value: number, schema: StructuralSchema, path: string): readonly FieldError[] {
  const limits: readonly Limit[] = [
    { limit: schema.multipleOf, ...multiple },
    { limit: schema.minimum, ...(schema.exclusiveMinimum === true ? above : atLeast) },
    { limit: schema.maximum, ...(schema.exclusiveMaximum === true ? below : atMost) },
  ];
  return limits.flatMap(({ limit, keeps, rule }) =>
    limit === undefined || keeps(value, limit)
      ? []
      : [invalid(path, value, inBody(path, `should be ${rule} ${limit}`))],
  );
}

export function enumErrors(value: JsonValue, schema: StructuralSchema, path: string): readonly FieldError[] {
  const allowed = schema.enum;
  if (allowed === undefined || allowed.some((choice) => sameJson(choice, value))) return [];
  const shown = allowed.map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice)));
  return [notSupported(path, value, shown)];
}
