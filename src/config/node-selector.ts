// Reads and applies selectors of labels, as `kubectl --selector` takes them. Pure.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
import type { ValueKind } from './value-kinds.ts';

export type Labels = Readonly<Record<string, string>>;

export class NodeSelector {
  /** As given. */
  readonly text: string;
  readonly #requirements: readonly ((labels: Labels) => boolean)[];

  constructor(text: string, requirements: readonly ((labels: Labels) => boolean)[]) {
    this.text = text;
    this.#requirements = requirements;
  }

  /** Whether these labels meet every requirement. */
  matches(labels: Labels): boolean {
    return this.#requirements.every((meets) => meets(labels));
  }
}

/** Whether the value of a label meets a requirement; undefined: the label is absent. */
type Requirement = (value: string | undefined) => boolean;

const name = '[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?';
const prefix = '[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?';
const key = `(${prefix}/)?${name}`;
const value = `(${name})?`;
const list = String.raw`\(\s*${name}(\s*,\s*${value})*\s*\)`;

/** The forms of a requirement, with the part of each that is its key and the one that is its operand. */
const forms: readonly { readonly pattern: string; readonly meets: (operand: string) => Requirement }[] = [
  { pattern: `(?<key>${key})`, meets: () => (found) => found !== undefined },
  { pattern: String.raw`!\s*(?<key>${key})`, meets: () => (found) => found === undefined },
  {
    pattern: String.raw`(?<key>${key})\s*==?\s*(?<operand>${value})`,
    meets: (operand) => (found) => found === operand,
  },
  {
    pattern: String.raw`(?<key>${key})\s*!=\s*(?<operand>${value})`,
    meets: (operand) => (found) => found !== operand,
  },
  {
    pattern: String.raw`(?<key>${key})\s+in\s*(?<operand>${list})`,
    meets: (operand) => (found) => found !== undefined && valuesIn(operand).includes(found),
  },
  {
    pattern: String.raw`(?<key>${key})\s+notin\s*(?<operand>${list})`,
    meets: (operand) => (found) => found === undefined || !valuesIn(operand).includes(found),
  },
  {
    pattern: String.raw`(?<key>${key})\s*>\s*(?<operand>-?\d{1,15})`,
    meets: (operand) => (found) => numberIn(found) > Number(operand),
  },
  {
    pattern: String.raw`(?<key>${key})\s*<\s*(?<operand>-?\d{1,15})`,
    meets: (operand) => (found) => numberIn(found) < Number(operand),
  },
];

const compiled = forms.map(({ pattern, meets }) => ({ regex: new RegExp(`^${pattern}$`), meets }));

function valuesIn(operand: string): readonly string[] {
  return operand
    .slice(1, -1)
    .split(',')
    .map((each) => each.trim());
}

/** A label that is no number meets neither a lower nor an upper bound. */
function numberIn(found: string | undefined): number {
  return found !== undefined && /^-?\d{1,15}$/.test(found) ? Number(found) : Number.NaN;
}

/** Undefined if it is none. Spaces around requirements do not count. */
export function parseNodeSelector(text: string): NodeSelector | undefined {
  // A comma within parentheses separates values.
  const parts = text.split(/,(?![^()]*\))/).map((part) => part.trim());
  const requirements = parts.flatMap((part) => requirementIn(part) ?? []);
  return requirements.length === parts.length ? new NodeSelector(parts.join(','), requirements) : undefined;
}

function requirementIn(text: string): ((labels: Labels) => boolean) | undefined {
  for (const { regex, meets } of compiled) {
    const groups = regex.exec(text)?.groups;
    if (groups === undefined) continue;
    const { key: label = '', operand = '' } = groups;
    const isMet = meets(operand);
    return (labels) => isMet(Object.hasOwn(labels, label) ? labels[label] : undefined);
  }
  return undefined;
}

const anyForm = forms.map(({ pattern }) => pattern.replaceAll(/\?<\w+>/g, '')).join('|');

export const nodeSelector: ValueKind<NodeSelector> = {
  placeholder: 'selector',
  accepts:
    'a label selector as kubectl takes it, such as eks.amazonaws.com/nodegroup, tier=pods,!gpu or zone in (a,b)',
  shape: { type: 'text', pattern: String.raw`^\s*(${anyForm})\s*(,\s*(${anyForm})\s*)*$` },
  parse: parseNodeSelector,
};
