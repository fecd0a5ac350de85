// The shape language for inputs and outputs of EC2 actions. One description gives the TypeScript type, the
// wire names in both directions, and the validation.
import type { RecordKind } from '../cloud/records.ts';

interface Described {
  /** Name on the wire, if it differs from the member's. */
  readonly wire?: string;
  readonly required?: boolean;
}

export interface TextShape extends Described {
  readonly kind: 'text';
  /** The only accepted values. */
  readonly values?: readonly string[];
  /** The text is an id of that kind and must have its form. */
  readonly id?: RecordKind | 'attachment';
}

export interface IntegerShape extends Described {
  readonly kind: 'integer';
}

export interface FlagShape extends Described {
  readonly kind: 'flag';
}

export interface TimeShape extends Described {
  readonly kind: 'time';
}

export interface ListShape<I extends Shape = Shape> extends Described {
  readonly kind: 'list';
  readonly item: I;
}

export interface RecordShape<F extends Fields = Fields> extends Described {
  readonly kind: 'record';
  readonly fields: F;
  /** Values are immutable and recur: their text is cached as long as the value. */
  readonly kept?: true;
}

export type Shape = TextShape | IntegerShape | FlagShape | TimeShape | ListShape | RecordShape;

export interface Fields {
  readonly [member: string]: Shape;
}

/** The value that a shape describes, with the member names of the SDKs. */
export type Value<S> = S extends TextShape
  ? string
  : S extends IntegerShape
    ? number
    : S extends FlagShape
      ? boolean
      : S extends TimeShape
        ? Date
        : S extends ListShape<infer I>
          ? readonly Value<I>[]
          : S extends RecordShape<infer F>
            ? Members<F>
            : never;

type RequiredKeys<F> = { [K in keyof F]: F[K] extends { readonly required: true } ? K : never }[keyof F];

export type Members<F> = { readonly [K in RequiredKeys<F>]: Value<F[K]> } & {
  readonly [K in Exclude<keyof F, RequiredKeys<F>>]?: Value<F[K]> | undefined;
};

export const text = { kind: 'text' } as const;
export const integer = { kind: 'integer' } as const;
export const flag = { kind: 'flag' } as const;
export const time = { kind: 'time' } as const;

/** One of a closed set of strings. */
export function oneOf(...values: readonly string[]): TextShape {
  return { kind: 'text', values };
}

/** An id of that kind. */
export function idOf(kind: RecordKind | 'attachment'): TextShape {
  return { kind: 'text', id: kind };
}

export function list<I extends Shape>(item: I): ListShape<I> {
  return { kind: 'list', item };
}

export function record<F extends Fields>(fields: F): RecordShape<F> {
  return { kind: 'record', fields };
}

/** The same shape, for immutable, recurring values. */
export function kept<F extends Fields>(shape: RecordShape<F>): RecordShape<F> {
  return { ...shape, kept: true };
}

/** The same shape under another wire name. */
export function as<S extends Shape>(wire: string, shape: S): S & { readonly wire: string } {
  return { ...shape, wire };
}

/** The same shape as a required member. */
export function required<S extends Shape>(shape: S): S & { readonly required: true } {
  return { ...shape, required: true };
}
