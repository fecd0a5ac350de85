// The language in which the EC2 actions' inputs and outputs are written down: one description gives the TypeScript
// type, the names on the wire in both directions, and what is refused.
import type { RecordKind } from '../cloud/records.ts';

interface Described {
  /** Name on the wire, where it is not the member's own. */
  readonly wire?: string;
  readonly required?: boolean;
}

export interface TextShape extends Described {
  readonly kind: 'text';
  /** The only values accepted. */
  readonly values?: readonly string[];
  /** The text is the id of such a thing, and refused where it is not formed like one. */
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
  /** A value of it never changes, and comes again: its text is kept for as long as the value is. */
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

/** One of a closed set of texts. */
export function oneOf(...values: readonly string[]): TextShape {
  return { kind: 'text', values };
}

/** The id of such a thing. */
export function idOf(kind: RecordKind | 'attachment'): TextShape {
  return { kind: 'text', id: kind };
}

export function list<I extends Shape>(item: I): ListShape<I> {
  return { kind: 'list', item };
}

export function record<F extends Fields>(fields: F): RecordShape<F> {
  return { kind: 'record', fields };
}

/** The same shape, of values that never change and come again. */
export function kept<F extends Fields>(shape: RecordShape<F>): RecordShape<F> {
  return { ...shape, kept: true };
}

/** The same shape under another name on the wire. */
export function as<S extends Shape>(wire: string, shape: S): S & { readonly wire: string } {
  return { ...shape, wire };
}

/** The same shape, which has to be given. */
export function required<S extends Shape>(shape: S): S & { readonly required: true } {
  return { ...shape, required: true };
}
