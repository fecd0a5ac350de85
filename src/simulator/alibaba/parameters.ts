// The parameters of an RPC request: what an action accepts, and how flattened text becomes values.
import { invalidParameter, missingParameter, unsupportedParameter } from './rpc-refusal.ts';

/** A tag as a request has it: a filter may leave its value out. */
export interface GivenTag {
  readonly key: string;
  readonly value?: string;
}

interface TextParameter {
  readonly kind: 'text';
  readonly required?: true;
  readonly values?: readonly string[];
  /** Longest text. */
  readonly max?: number;
}

interface IntegerParameter {
  readonly kind: 'integer';
  readonly required?: true;
  readonly min: number;
  readonly max: number;
}

interface FlagParameter {
  readonly kind: 'flag';
  readonly required?: true;
}

/** A list: `Name.1`, `Name.2`. */
interface TextsParameter {
  readonly kind: 'texts';
  readonly required?: true;
  readonly max: number;
}

/** A list of pairs: `Name.1.Key`, `Name.1.Value`. */
interface TagsParameter {
  readonly kind: 'tags';
  readonly required?: true;
}

/** A list as JSON text: `["a","b"]`. */
interface JsonTextsParameter {
  readonly kind: 'jsonTexts';
  readonly required?: true;
  readonly max: number;
}

export type Parameter =
  | TextParameter
  | IntegerParameter
  | FlagParameter
  | TextsParameter
  | TagsParameter
  | JsonTextsParameter;

export type Parameters = Readonly<Record<string, Parameter>>;

type ValueOf<P extends Parameter> = P extends TextParameter
  ? string
  : P extends IntegerParameter
    ? number
    : P extends FlagParameter
      ? boolean
      : P extends TagsParameter
        ? readonly GivenTag[]
        : readonly string[];

type IsPresent<P> = P extends { kind: 'texts' | 'tags' | 'jsonTexts' } | { required: true } ? true : false;

/** The input of an action: a list that was not given is empty. */
export type InputOf<S extends Parameters> = {
  readonly [N in keyof S]: IsPresent<S[N]> extends true ? ValueOf<S[N]> : ValueOf<S[N]> | undefined;
};

/** A request's parameters as they are on the wire. */
export type Flattened = ReadonlyMap<string, string>;

export const text = { kind: 'text' } as const;
export const requiredText = { kind: 'text', required: true } as const;
export const flag = { kind: 'flag' } as const;
export const tags = { kind: 'tags' } as const;
export const integer = (min: number, max: number) => ({ kind: 'integer', min, max }) as const;
export const texts = (max: number) => ({ kind: 'texts', max }) as const;
export const jsonTexts = (max: number) => ({ kind: 'jsonTexts', max }) as const;
export const oneOf = (...values: readonly string[]) => ({ kind: 'text', values }) as const;

/** Most tags of a request, and of a resource (https://help.aliyun.com/document_detail/110424.html). */
const maxTags = 20;

/** The parameters that an action accepts of a request; refuses unknown, malformed and missing ones. */
export function accept(shape: Parameters, given: Flattened): Readonly<Record<string, unknown>> {
  for (const name of given.keys()) {
    const parameter = shape[name.split('.')[0] ?? ''];
    if (parameter === undefined || isFlat(parameter) === name.includes('.')) throw unsupportedParameter(name);
  }
  return Object.fromEntries(
    Object.entries(shape).map(([name, parameter]) => {
      const value = valueOf(name, parameter, given);
      const isMissing = value === undefined || (Array.isArray(value) && value.length === 0);
      if (isMissing && parameter.required === true) throw missingParameter(name);
      return [name, value];
    }),
  );
}

function isFlat({ kind }: Parameter): boolean {
  return kind !== 'texts' && kind !== 'tags';
}

function valueOf(name: string, parameter: Parameter, given: Flattened): unknown {
  if (parameter.kind === 'texts') return bounded(name, listOf(name, given), parameter.max);
  if (parameter.kind === 'tags') return bounded(name, tagsOf(name, given), maxTags);
  const value = given.get(name);
  if (parameter.kind === 'jsonTexts') return bounded(name, readJson(name, value), parameter.max);
  return value === undefined ? undefined : scalarOf(name, parameter, value);
}

function scalarOf(
  name: string,
  parameter: TextParameter | IntegerParameter | FlagParameter,
  value: string,
): unknown {
  switch (parameter.kind) {
    case 'flag':
      if (!/^(true|false)$/i.test(value)) throw invalidParameter(name);
      return value.toLowerCase() === 'true';
    case 'integer':
      return integerOf(name, parameter, value);
    case 'text':
      return textOf(name, parameter, value);
  }
}

function integerOf(name: string, { min, max }: IntegerParameter, value: string): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw invalidParameter(name);
}

/** Empty text counts as none. */
function textOf(name: string, { values, max = 1024 }: TextParameter, value: string): string | undefined {
  if (value.length > max || values?.includes(value) === false) throw invalidParameter(name);
  return value === '' ? undefined : value;
}

function bounded<T>(name: string, list: readonly T[], max: number): readonly T[] {
  if (list.length > max) throw invalidParameter(name);
  return list;
}

function listOf(name: string, given: Flattened): readonly string[] {
  return indicesOf(name, given).map((index) => {
    const value = given.get(`${name}.${index}`);
    if (value === undefined) throw invalidParameter(`${name}.${index}`);
    return value;
  });
}

function tagsOf(name: string, given: Flattened): readonly GivenTag[] {
  const keys = new Set<string>();
  return indicesOf(name, given).map((index) => {
    const key = given.get(`${name}.${index}.Key`) ?? '';
    const value = given.get(`${name}.${index}.Value`);
    if (key === '' || key.length > 128 || keys.has(key)) throw invalidParameter('TagKey.Malformed');
    if (value !== undefined && value.length > 128) throw invalidParameter('TagValue.Malformed');
    keys.add(key);
    return { key, ...(value !== undefined && { value }) };
  });
}

/** The indices of a list, in order; they begin with 1. */
function indicesOf(name: string, given: Flattened): readonly number[] {
  const indices = new Set<number>();
  for (const whole of given.keys()) {
    if (!whole.startsWith(`${name}.`)) continue;
    const [, index = ''] = whole.split('.');
    if (!/^[1-9]\d{0,3}$/.test(index)) throw invalidParameter(whole);
    indices.add(Number(index));
  }
  return [...indices].toSorted((a, b) => a - b);
}

function readJson(name: string, value: string | undefined): readonly string[] {
  if (value === undefined || value === '') return [];
  let content: unknown;
  try {
    content = JSON.parse(value);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const isList = Array.isArray(content) && content.every((item) => typeof item === 'string');
  if (!isList) throw invalidParameter(`${name}.Malformed`);
  return content as readonly string[];
}
