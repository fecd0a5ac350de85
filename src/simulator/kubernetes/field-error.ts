// Describes an invalid field with the API server's reasons and texts
// (https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.32/#statuscause-v1-meta).
import { printed, quoted } from './go-text.ts';
import type { JsonValue } from './json-value.ts';

export type FieldErrorReason =
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueInvalid'
  | 'FieldValueNotFound'
  | 'FieldValueNotSupported'
  | 'FieldValueRequired'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid';

export interface FieldError {
  readonly reason: FieldErrorReason;
  /** The path of the field, such as `spec.containers[0].name`. */
  readonly field: string;
  /** Without the path. */
  readonly message: string;
}

const withDetail = (text: string, detail: string): string => (detail === '' ? text : `${text}: ${detail}`);

export function required(field: string, detail = ''): FieldError {
  return { reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

export function invalid(field: string, value: JsonValue | undefined, detail: string): FieldError {
  return {
    reason: 'FieldValueInvalid',
    field,
    message: withDetail(`Invalid value: ${printed(value)}`, detail),
  };
}

/** Like `invalid`, for a value whose Go form differs from JSON; `shown` is printed unchanged. */
export function invalidAs(field: string, shown: string, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: withDetail(`Invalid value: ${shown}`, detail) };
}

export function typeInvalid(field: string, value: JsonValue | undefined, detail: string): FieldError {
  return { ...invalid(field, value, detail), reason: 'FieldValueTypeInvalid' };
}

export function notSupported(field: string, value: JsonValue, supported: readonly string[]): FieldError {
  return notSupportedAs(field, printed(value), supported);
}

/** Like `notSupported`, for a value whose Go form differs from JSON. */
export function notSupportedAs(field: string, shown: string, supported: readonly string[]): FieldError {
  const detail = `supported values: ${supported.map(quoted).join(', ')}`;
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: withDetail(`Unsupported value: ${shown}`, detail),
  };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

export function tooLong(field: string, maximum: number): FieldError {
  return {
    reason: 'FieldValueTooLong',
    field,
    message: `Too long: may not be more than ${maximum} bytes`,
  };
}

export function tooMany(field: string, actual: number, maximum: number): FieldError {
  return {
    reason: 'FieldValueTooMany',
    field,
    message: `Too many: ${actual}: must have at most ${maximum} items`,
  };
}

export function duplicate(field: string, value: JsonValue): FieldError {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${printed(value)}` };
}

export function notFoundField(field: string, value: JsonValue): FieldError {
  return { reason: 'FieldValueNotFound', field, message: `Not found: ${printed(value)}` };
}

/** All errors as one text, without duplicates. */
export function joinedFieldErrors(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}
