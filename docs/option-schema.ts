// What the values of the chart may say of an option, made from the shape of its kind.
import type { OptionRow } from '../src/config/option-row.ts';
import type { ValueShape } from '../src/config/value-kinds.ts';
import { accepting, type JsonSchema, never } from './json-schema.ts';

const separator = String.raw`[\s,]+`;
/** The grammar of durations in src/config/go-duration.ts. Bounds of texts are checked by a template. */
const goDuration = String.raw`^(0|((\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h))+)$`;

/** As YAML has such a value, or as the text that a flag takes. */
export function optionSchema({ kind, help }: OptionRow): JsonSchema {
  const { shape, accepts } = kind;
  const accepted = accepting(formOf(shape), accepts);
  return { description: help, ...(shape.type === 'text' ? unlessNumber(accepted) : accepted) };
}

/** A number looks like the text that is wanted. */
function unlessNumber(schema: JsonSchema): JsonSchema {
  const words = 'a text: put it in quotes, and on the command line use --set-string';
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  return { if: { type: ['number', 'boolean'] }, then: never(words), else: schema };
}

function formOf(shape: ValueShape): JsonSchema {
  switch (shape.type) {
    case 'boolean':
      return { enum: shape.values.flatMap((value) => [value, String(value)]) };
    case 'choice':
      return { enum: shape.values };
    case 'integer':
      return integerForm(shape);
    case 'number':
      return numberForm(shape);
    case 'duration':
      return durationForm(shape);
    case 'text':
      return textForm(shape.pattern);
    case 'list':
      return listForm(shape.item);
    case 'tags':
      return { anyOf: [{ type: 'string' }, { type: 'object', additionalProperties: { type: 'string' } }] };
  }
}

function integerForm({ min, max, or }: ValueShape & { type: 'integer' }): JsonSchema {
  const range = { type: 'integer', minimum: min, maximum: max };
  const text = { type: 'string', pattern: String.raw`^\d{1,15}$` };
  return { anyOf: [range, text, ...(or === undefined ? [] : [{ const: or }])] };
}

function numberForm({ max }: ValueShape & { type: 'number' }): JsonSchema {
  const range = { type: 'number', exclusiveMinimum: 0, ...(max !== undefined && { maximum: max }) };
  const text = { type: 'string', pattern: String.raw`^\d{1,15}(\.\d{1,9})?$` };
  return { anyOf: [range, text] };
}

function durationForm({ plainSeconds, never, min }: ValueShape & { type: 'duration' }): JsonSchema {
  const numbers = [
    ...(plainSeconds === true ? [{ type: 'integer', minimum: 0 }] : []),
    ...(never === true || min === 0 ? [{ const: 0 }] : []),
  ];
  const texts = [
    { type: 'string', pattern: goDuration },
    ...(plainSeconds === true ? [{ type: 'string', pattern: String.raw`^\d+$` }] : []),
  ];
  return { anyOf: [...texts, ...numbers] };
}

/** Helm's regular expressions are Go's, which look neither ahead nor behind. */
function textForm(pattern: string): JsonSchema {
  const [, max, rest] = /^\^\(\?=\.\{1,(\d+)\}\$\)(.*)$/.exec(pattern) ?? [];
  if (max === undefined) return { type: 'string', pattern };
  return { type: 'string', maxLength: Number(max), pattern: `^${rest}` };
}

function listForm(item: string): JsonSchema {
  const several = `^\\s*(${item}(${separator}${item})*)?\\s*$`;
  return {
    anyOf: [
      { type: 'string', pattern: several },
      { type: 'array', items: { type: 'string', pattern: `^${item}$` } },
    ],
  };
}
