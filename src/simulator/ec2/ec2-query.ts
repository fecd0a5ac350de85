// EC2's Query protocol: flat form parameters in, XML out, both by an action's shapes
// (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-query-api.html).
import { unknownParameter } from './accept.ts';
import { type Ec2Refusal, invalidParameterValue } from './ec2-refusal.ts';
import type { Fields, RecordShape, Shape } from './shape.ts';

/** API version, in every request and in the namespace of every answer. */
export const apiVersion = '2016-11-15';

/** Parameters as a tree: `Filter.1.Name=x` is at Filter, 1, Name. */
interface Node {
  value?: string;
  readonly children: Map<string, Node>;
}

/** Decodes form parameters to an input with member names. Refuses parameters that the shape does not have. */
export function decodeParameters(
  shape: RecordShape,
  parameters: Iterable<readonly [string, string]>,
): Record<string, unknown> {
  return decodeRecord(shape, treeOf(parameters), '');
}

/** The answer of an action. */
export function encodeAnswer(action: string, shape: RecordShape, output: unknown, requestId: string): string {
  const body = bodyWriterOf(shape)(output);
  return `${declaration}<${action}Response xmlns="http://ec2.amazonaws.com/doc/${apiVersion}/"><requestId>${requestId}</requestId>${body}</${action}Response>`;
}

/** The answer of a refusal. */
export function encodeRefusal(refusal: Ec2Refusal, requestId: string): string {
  const error = `<Error>${element('Code', refusal.code)}${element('Message', refusal.message)}</Error>`;
  return `${declaration}<Response><Errors>${error}</Errors>${element('RequestID', requestId)}</Response>`;
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

function treeOf(parameters: Iterable<readonly [string, string]>): Node {
  const root: Node = { children: new Map() };
  for (const [path, value] of parameters) {
    let node = root;
    for (const step of path.split('.')) {
      const next = node.children.get(step) ?? { children: new Map() };
      node.children.set(step, next);
      node = next;
    }
    node.value = value;
  }
  return root;
}

function decodeRecord(shape: RecordShape, node: Node, path: string): Record<string, unknown> {
  const members = new Map(
    Object.entries(shape.fields).map(([member, field]) => [field.wire ?? member, { member, field }]),
  );
  const input: Record<string, unknown> = {};
  for (const [name, child] of node.children) {
    const known = members.get(name);
    if (known === undefined) throw unknownParameter(`${path}${name}`);
    input[known.member] = decode(known.field, child, `${path}${name}`);
  }
  return input;
}

function decode(shape: Shape, node: Node, path: string): unknown {
  if (shape.kind === 'record') return decodeRecord(shape, node, `${path}.`);
  if (shape.kind === 'list') return decodeList(shape.item, node, path);
  const [stranger] = node.children.keys();
  if (stranger !== undefined) throw unknownParameter(`${path}.${stranger}`);
  return decodeScalar(shape.kind, node.value ?? '', path);
}

function decodeList(item: Shape, node: Node, path: string): unknown[] {
  const entries = [...node.children].map(([index, child]) => {
    if (!/^[1-9]\d*$/.test(index)) throw unknownParameter(`${path}.${index}`);
    return { index: Number(index), child };
  });
  return entries
    .toSorted((a, b) => a.index - b.index)
    .map(({ index, child }) => decode(item, child, `${path}.${index}`));
}

function decodeScalar(kind: Exclude<Shape['kind'], 'list' | 'record'>, value: string, path: string): unknown {
  switch (kind) {
    case 'text':
      return value;
    case 'integer':
      if (!/^-?\d{1,15}$/.test(value)) throw unreadable(value, path, 'an integer');
      return Number(value);
    case 'flag':
      if (!/^(true|false)$/i.test(value)) throw unreadable(value, path, 'true or false');
      return value.toLowerCase() === 'true';
    case 'time':
      if (Number.isNaN(Date.parse(value))) throw unreadable(value, path, 'a time');
      return new Date(value);
  }
}

function unreadable(value: string, path: string, expected: string): Ec2Refusal {
  const name = path.charAt(0).toLowerCase() + path.slice(1);
  return invalidParameterValue(
    `Value (${value}) for parameter ${name} is invalid. The value must be ${expected}.`,
  );
}

/** Serializes a value. */
type Writer = (value: unknown) => string;

/** A page has some ten thousand elements and writing it blocks the event loop, so each shape is compiled once. */
const bodyWriters = new WeakMap<RecordShape, Writer>();

function bodyWriterOf(shape: RecordShape): Writer {
  const known = bodyWriters.get(shape);
  if (known !== undefined) return known;
  const writer = fieldsWriter(shape.fields);
  bodyWriters.set(shape, writer);
  return writer;
}

function fieldsWriter(fields: Fields): Writer {
  const writers = Object.entries(fields).map(
    ([member, shape]) => [member, elementWriter(shape.wire ?? lowerFirst(member), shape)] as const,
  );
  return (value) => {
    const members = value as Readonly<Record<string, unknown>>;
    const elements: string[] = [];
    for (const [member, write] of writers) {
      const given = members[member];
      if (given !== undefined) elements.push(write(given));
    }
    return elements.join('');
  };
}

function keeping(write: Writer): Writer {
  const texts = new WeakMap<object, string>();
  return (value) => {
    const known = texts.get(value as object);
    if (known !== undefined) return known;
    const written = write(value);
    texts.set(value as object, written);
    return written;
  };
}

function elementWriter(name: string, shape: Shape): Writer {
  const [start, end] = [`<${name}>`, `</${name}>`];
  // A joined string is contiguous. A concatenated one is a tree that V8 flattens with the whole page and then discards.
  const wrap =
    (write: Writer): Writer =>
    (value) =>
      [start, write(value), end].join('');
  switch (shape.kind) {
    case 'record': {
      const write = fieldsWriter(shape.fields);
      return shape.kept === true ? keeping(wrap(write)) : wrap(write);
    }
    case 'list': {
      const write = elementWriter('item', shape.item);
      return (value) => {
        const items = value as readonly unknown[];
        return items.length === 0 ? `<${name}/>` : [start, ...items.map(write), end].join('');
      };
    }
    case 'time':
      return (value) => start + (value as Date).toISOString() + end;
    default:
      return (value) => start + escape(String(value)) + end;
  }
}

function element(name: string, content: string): string {
  return `<${name}>${escape(content)}</${name}>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function escape(content: string): string {
  return /[&<>"']/.test(content) ? content.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign) : content;
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
