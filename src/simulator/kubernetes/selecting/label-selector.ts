// Label selectors: select the objects of a list or watch by their labels.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
import { badRequest } from '../api-status.ts';
import { quoted } from '../go-text.ts';
import { labelValueRule, qualifiedName } from '../objects/names.ts';

export type Labels = Readonly<Record<string, string>>;
export type LabelSelector = (labels: Labels) => boolean;

/** The requirement of each operator for a label's value, which is undefined without the label. */
const operators = {
  exists: (value) => value !== undefined,
  '!': (value) => value === undefined,
  in: isOneOf,
  '=': isOneOf,
  '==': isOneOf,
  notin: isNoneOf,
  '!=': isNoneOf,
  '>': (value, [bound]) => isInteger(value) && Number(value) > Number(bound),
  '<': (value, [bound]) => isInteger(value) && Number(value) < Number(bound),
} as const satisfies Record<string, (value: string | undefined, values: readonly string[]) => boolean>;

type Operator = keyof typeof operators;

function isOneOf(value: string | undefined, values: readonly string[]): boolean {
  return value !== undefined && values.includes(value);
}

function isNoneOf(value: string | undefined, values: readonly string[]): boolean {
  return !isOneOf(value, values);
}

function isInteger(value: string | undefined): boolean {
  return value !== undefined && /^[+-]?\d+$/.test(value);
}

interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** Throws `StatusError` with the server's text for a malformed selector. */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = new Parser(text).requirements();
  return (labels) => requirements.every((requirement) => fulfils(labels, requirement));
}

function fulfils(labels: Labels, { key, operator, values }: Requirement): boolean {
  return operators[operator](Object.hasOwn(labels, key) ? labels[key] : undefined, values);
}

const token = /\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)/y;
const symbols: readonly string[] = ['==', '!=', '=', '!', '<', '>', '(', ')', ','];

/** Parses the small grammar token by token; an empty token is the end. */
class Parser {
  readonly #tokens: readonly string[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = Array.from(text.matchAll(new RegExp(token, 'gy')), (match) => match[1] ?? '');
  }

  requirements(): readonly Requirement[] {
    const found: Requirement[] = [];
    while (this.#peek() !== '') {
      if (!isWord(this.#peek()) && this.#peek() !== '!') {
        throw badRequest(`found '${this.#peek()}', expected: !, identifier, or 'end of string'`);
      }
      found.push(checked(this.#requirement()));
      this.#separator();
    }
    return found;
  }

  #separator(): void {
    const next = this.#take();
    if (next === '') return;
    if (next !== ',') throw badRequest(`found '${next}', expected: ',' or 'end of string'`);
    if (!isWord(this.#peek()) && this.#peek() !== '!') {
      throw badRequest(`found '${this.#peek()}', expected: identifier after ','`);
    }
  }

  #requirement(): Requirement {
    const absent = this.#peek() === '!';
    if (absent) this.#take();
    const key = this.#take();
    if (!isWord(key)) throw unparsable(`found '${key}', expected: identifier`);
    const problems = qualifiedName(key);
    if (problems.length > 0) throw unparsable(`<nil>: Invalid value: ${quoted(key)}: ${problems.join('; ')}`);
    if (this.#peek() === '' || this.#peek() === ',')
      return { key, operator: absent ? '!' : 'exists', values: [] };
    const operator = this.#operator();
    const set = operator === 'in' || operator === 'notin';
    return { key, operator, values: set ? this.#values() : [this.#exactValue()] };
  }

  #operator(): Operator {
    const operator = this.#take();
    if (isBinary(operator)) return operator;
    throw unparsable(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  #exactValue(): string {
    if (this.#peek() === '' || this.#peek() === ',') return '';
    const value = this.#take();
    if (!isWord(value)) throw unparsable(`found '${value}', expected: identifier`);
    return value;
  }

  #values(): readonly string[] {
    const open = this.#take();
    if (open !== '(') throw unparsable(`found '${open}' expected: '('`);
    const values: string[] = [];
    let expectsValue = true;
    for (;;) {
      const next = this.#take();
      if (next === ')' || next === ',') {
        if (expectsValue) values.push('');
        if (next === ')') return values;
        expectsValue = true;
      } else if (expectsValue && isWord(next)) {
        values.push(next);
        expectsValue = false;
      } else {
        throw unparsable(`found '${next}', expected: ${expectsValue ? "',', or identifier" : "',' or ')'"}`);
      }
    }
  }

  #peek(): string {
    return this.#tokens[this.#position] ?? '';
  }

  #take(): string {
    return this.#tokens[this.#position++] ?? '';
  }
}

function isBinary(text: string): text is Operator {
  return Object.hasOwn(operators, text) && text !== '!' && text !== 'exists';
}

function isWord(text: string): boolean {
  return text !== '' && !symbols.includes(text);
}

function unparsable(because: string): Error {
  return badRequest(`unable to parse requirement: ${because}`);
}

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  const [value = ''] = values;
  if ((operator === '<' || operator === '>') && !isInteger(value)) {
    const rule = "for 'Gt', 'Lt' operators, the value must be an integer";
    throw unparsable(`values[0]: Invalid value: ${quoted(value)}: ${rule}`);
  }
  for (const [index, each] of values.entries()) {
    const problems = labelValueRule(each);
    if (problems.length > 0) {
      throw unparsable(`values[${index}][${key}]: Invalid value: ${quoted(each)}: ${problems.join('; ')}`);
    }
  }
  return requirement;
}
