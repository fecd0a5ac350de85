// The fields of a built-in type as data: which names it knows, of which type each is, and whether an empty value is
// written. Built-in types have no structural schema: the API server decodes them into Go structs, and what a request
// gets back follows from how Go does that.
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
  /** What an absent value is written as where one is always written. */
  readonly zero: JsonValue;
  /** The value as it is kept, or undefined for one of another type; throws `DecodeError` for a malformed one. */
  readonly read: (value: JsonValue) => JsonValue | undefined;
}

export interface StructShape {
  readonly kind: 'struct';
  /** Of the Go type, as error texts name it. */
  readonly name: string;
  /** In the order in which they are written. */
  readonly fields: readonly (readonly [name: string, field: WireField])[];
  /** By name, its place among the fields. */
  readonly places: ReadonlyMap<string, number>;
}

export interface WireField {
  readonly shape: WireShape;
  readonly presence: Presence;
}

/**
 * `filled`: written unless empty. `given`: a pointer, written when the request gave it, even if empty.
 * `always`: written in any case, as its zero value when absent.
 */
export type Presence = 'always' | 'filled' | 'given';

export function list(items: WireShape): WireShape {
  return { kind: 'list', items };
}

export function map(values: WireShape): WireShape {
  return { kind: 'map', values };
}

/** A struct; a bare shape stands for a field that is written unless empty. */
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
