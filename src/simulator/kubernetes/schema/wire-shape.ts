// The fields of a built-in type as data: their names and types, and whether an empty value is written.
// Built-in types have no structural schema. The API server decodes them into Go structs, which determines
// what a request returns.
import type { JsonValue } from '../json-value.ts';

export type WireShape =
  | ScalarShape
  | { readonly kind: 'list'; readonly items: WireShape }
  | { readonly kind: 'map'; readonly values: WireShape }
  | StructShape;

export interface ScalarShape {
  readonly kind: 'scalar';
  /** The Go type, as error texts name it. */
  readonly goType: string;
  /** The value written for an absent field that is always written. */
  readonly zero: JsonValue;
  /** The stored value; undefined for one of another type. Throws `DecodeError` for a malformed one. */
  readonly read: (value: JsonValue) => JsonValue | undefined;
}

export interface StructShape {
  readonly kind: 'struct';
  /** The name of the Go type in error texts. */
  readonly name: string;
  /** In writing order. */
  readonly fields: readonly (readonly [name: string, field: WireField])[];
  /** Index of each field by name. */
  readonly places: ReadonlyMap<string, number>;
}

export interface WireField {
  readonly shape: WireShape;
  readonly presence: Presence;
}

/**
 * `filled`: written unless empty. `given`: a pointer, written if the request has it, even if empty. `always`:
 * always written, as its zero value if absent.
 */
export type Presence = 'always' | 'filled' | 'given';

export function list(items: WireShape): WireShape {
  return { kind: 'list', items };
}

export function map(values: WireShape): WireShape {
  return { kind: 'map', values };
}

/** A struct; a bare shape is a field that is written unless empty. */
export function struct(name: string, fields: Readonly<Record<string, WireField | WireShape>>): StructShape {
  const complete = Object.entries(fields).map(([field, value]): readonly [string, WireField] => [
    field,
    'presence' in value ? value : filled(value),
  ]);
  const places = new Map(complete.map(([field], index) => [field, index]));
  return { kind: 'struct', name, fields: complete, places };
}

export function filled(shape: WireShape): WireField {
  return { shape, presence: 'filled' };
}

export function given(shape: WireShape): WireField {
  return { shape, presence: 'given' };
}

export function always(shape: WireShape): WireField {
  return { shape, presence: 'always' };
}
