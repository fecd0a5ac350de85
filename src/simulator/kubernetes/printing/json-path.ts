// The paths of printer columns: `.spec.addresses[?(@.type=="InternalIP")].ip`. Supports fields, indexes,
// wildcards and equality filters; rejects any other path when the column is created.
// https://kubernetes.io/docs/reference/kubectl/jsonpath/
import { isJsonArray, isJsonObject, type JsonValue, sameJson, valueAt } from '../json-value.ts';

type Step = (value: JsonValue) => readonly JsonValue[];

/** Returns all values at a path. */
export type JsonPath = (value: JsonValue) => readonly JsonValue[];

/** Throws a `SyntaxError` for an unsupported path. */
export function compileJsonPath(path: string): JsonPath {
  const steps: Step[] = [];
  let rest = path;
  while (rest !== '') {
    const [step, length] = nextStep(rest, path);
    steps.push(step);
    rest = rest.slice(length);
  }
  return (value) => steps.reduce<readonly JsonValue[]>((values, step) => values.flatMap(step), [value]);
}

const patterns: readonly (readonly [RegExp, (match: RegExpExecArray) => Step])[] = [
  [/^(?:\.\*|\[\*\])/, () => everyPart],
  [/^\[\?\(@((?:\.[^\s=!.[\]()]+)+)\s*==\s*(?:"([^"]*)"|'([^']*)'|([^\s)"']+))\)\]/, filterStep],
  [/^\[(-?\d+)\]/, (match) => indexStep(Number(match[1]))],
  [/^\['((?:[^'\\]|\\.)+)'\]/, (match) => fieldStep(unescaped(match[1] ?? ''))],
  [/^\.((?:[^.[\\]|\\.)+)/, (match) => fieldStep(unescaped(match[1] ?? ''))],
];

function nextStep(rest: string, path: string): readonly [Step, number] {
  for (const [pattern, make] of patterns) {
    const match = pattern.exec(rest);
    if (match !== null) return [make(match), match[0].length];
  }
  throw new SyntaxError(`cannot follow "${rest}" in the JSON path "${path}"`);
}

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

function everyPart(value: JsonValue): readonly JsonValue[] {
  if (isJsonArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

function fieldStep(name: string): Step {
  return (value) => {
    const field = valueAt(value, name);
    return field === undefined ? [] : [field];
  };
}

function indexStep(index: number): Step {
  return (value) => {
    const item = isJsonArray(value) ? value.at(index) : undefined;
    return item === undefined ? [] : [item];
  };
}

function filterStep(match: RegExpExecArray): Step {
  const [, path = '', double, single, bare = ''] = match;
  const wanted = double ?? single ?? (JSON.parse(bare) as JsonValue);
  const fields = path.slice(1).split('.');
  return (value) => everyPart(value).filter((part) => sameJson(valueAt(part, ...fields), wanted));
}
