// Parses EC2 answers from their bytes into plain records with only the members that Headwater uses. The
// records keep no part of the answer alive. For a page of 1,000 interfaces the SDK's parser blocks the event
// loop too long and takes several times the memory. An answer in any other form is rejected as a whole.
import { isUtf8 } from 'node:buffer';
import { nameHash, NotUnderstood, XmlCursor } from './xml-cursor.ts';

/** Items parsed before yielding to others. */
const batch = 25;
/** No call accepts a higher MaxResults, and no interface has as many of anything. */
const maxItems = 1000;

/** The shape of an answer: its root element and its members. */
export interface AnswerShape<T> {
  readonly root: readonly number[];
  readonly members: MembersByHash;
  /** Only for its type. */
  readonly output?: T;
}

export type OutputOf<S> = S extends AnswerShape<infer T> ? T : never;

/**
 * The value that the SDK would return for this answer, limited to the shape. Yields now and then so that other work can
 * run. Throws NotUnderstood unless the input is exactly one such answer.
 */
export function* readAnswer<T>(shape: AnswerShape<T>, body: Buffer): Generator<undefined, T> {
  if (!isUtf8(body)) throw new NotUnderstood('another encoding than UTF-8');
  const source: Source = { cursor: new XmlCursor(body), known: new Map() };
  const { cursor } = source;
  cursor.enterRoot();
  if (!cursor.isNamed(shape.root)) throw new NotUnderstood('it is the answer to something else');
  const output: Record<string, unknown> = {};
  while (cursor.enterChild()) {
    const member = memberAt(cursor, shape.members);
    if (member === undefined) {
      if (shape.members.has(nextToken) && /token/i.test(cursor.name()))
        throw new NotUnderstood('a page token by another name');
      cursor.skip();
    } else if (member.name in output) throw twice();
    else {
      const { item: ofItem } = member.read;
      output[member.name] = ofItem === undefined ? member.read(source) : yield* readItems(source, ofItem);
    }
  }
  cursor.expectEnd();
  // The output has the members of the shape, which are those of `T`.
  return output as T;
}

function* readItems(source: Source, read: Read<unknown>): Generator<undefined, unknown[]> {
  const { cursor } = source;
  const items: unknown[] = [];
  while (cursor.enterChild()) {
    checkItem(cursor, items.length);
    items.push(read(source));
    if (items.length % batch === batch - 1) yield;
  }
  return items;
}

function checkItem(cursor: XmlCursor, before: number): void {
  if (!cursor.isNamed(item)) throw new NotUnderstood('something else than an item in a list');
  if (before >= maxItems) throw new NotUnderstood(`more than ${maxItems} items in a list`);
}

function memberAt(cursor: XmlCursor, members: MembersByHash): Member | undefined {
  const member = members.get(cursor.hash);
  return member !== undefined && cursor.isNamed(member.element) ? member : undefined;
}

function twice(): NotUnderstood {
  return new NotUnderstood('an element that comes twice');
}

const item = bytesOf('item');
const nextToken = nameHash('nextToken');

interface Source {
  readonly cursor: XmlCursor;
  /** Strings that repeat in this page: each is kept once. */
  readonly known: Map<string, string>;
}

/** Reads the element that the cursor has entered, and leaves it. */
export interface Read<T> {
  (source: Source): T;
  /** For a list: reads one item. */
  readonly item?: Read<unknown>;
}

export type ReadBy<R> = R extends Read<infer T> ? T : never;

/** By its name, the element of each member and how it is read. */
type Members = Readonly<Record<string, readonly [element: string, read: Read<unknown>]>>;

/** Any member may be missing; the reader of an answer validates it. */
export type Shown<M extends Members> = { readonly [N in keyof M]?: ReadBy<M[N][1]> | undefined };

interface Member {
  readonly element: readonly number[];
  readonly name: string;
  readonly read: Read<unknown>;
}

type MembersByHash = ReadonlyMap<number, Member>;

export const text: Read<string> = ({ cursor }) => cursor.text();

export const number: Read<number> = ({ cursor }) => {
  const digits = cursor.text();
  if (!/^\d{1,10}$/.test(digits)) throw new NotUnderstood('something else than a number');
  return Number(digits);
};

export const flag: Read<boolean> = ({ cursor }) => {
  const word = cursor.text().toLowerCase();
  if (word !== 'true' && word !== 'false') throw new NotUnderstood('something else than true or false');
  return word === 'true';
};

export const shared: Read<string> = ({ cursor, known }) => {
  const value = cursor.text();
  const before = known.get(value);
  if (before === undefined) known.set(value, value);
  return before ?? value;
};

/** `refused`: elements that must not appear inside an unknown member: it would be a known member under another name. */
export function record<const M extends Members>(members: M, refused: readonly string[] = []): Read<Shown<M>> {
  const byHash = membersByHash(members);
  const refusedHashes = new Set(refused.map(nameHash));
  return (source) => {
    const { cursor } = source;
    const result: Record<string, unknown> = {};
    while (cursor.enterChild()) {
      const member = memberAt(cursor, byHash);
      if (member === undefined) cursor.skip(refusedHashes);
      else if (member.name in result) throw twice();
      else result[member.name] = member.read(source);
    }
    // The result has the members of `members`.
    return result as Shown<M>;
  };
}

export function listOf<T>(read: Read<T>): Read<readonly T[]> {
  const all = (source: Source): readonly T[] => {
    const { cursor } = source;
    const items: T[] = [];
    while (cursor.enterChild()) {
      checkItem(cursor, items.length);
      items.push(read(source));
    }
    return items;
  };
  return Object.assign(all, { item: read });
}

export function answer<const M extends Members>(action: string, members: M): AnswerShape<Shown<M>> {
  return { root: bytesOf(`${action}Response`), members: membersByHash(members) };
}

function membersByHash(members: Members): MembersByHash {
  const entries = Object.entries(members);
  return new Map(
    entries.map(([name, [element, read]]) => [nameHash(element), { element: bytesOf(element), name, read }]),
  );
}

function bytesOf(name: string): readonly number[] {
  return [...Buffer.from(name)];
}
