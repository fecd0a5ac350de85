// Reads which interfaces a formatted source file declares, and the members of each, without parsing all of it.

export interface SourceInterface {
  readonly name: string;
  /** Its own. */
  readonly members: readonly SourceMember[];
  readonly parents: readonly Parent[];
}

export interface SourceMember {
  readonly name: string;
  /** A property that holds a function: nobody sees where it leads. A method belongs to the class that implements the interface. */
  readonly isFunction: boolean;
}

/** An interface after `extends`. */
interface Parent {
  readonly name: string;
  /** Members that are left out, or that alone are taken. */
  readonly only?: readonly string[];
  readonly without?: readonly string[];
}

/** The formatter ends an interface at the start of a line, and indents its members by two spaces. */
const declaration = /^(?:export )?interface (\w+)(?:<[^{]*?>)?(?:\s+extends ([^{]*?))? \{\n(.*?)^\}/gms;
const member = /^ {2}(?:readonly )?([\w$]+|'[^']+')\??((?:[:(]|<[^>]*>\().*?)(?=^ {2}\S|(?![\s\S]))/gms;
const functionType = /^:\s*(?:\|\s*)?(?:<[^>]*>)?\(.*=>/s;
const parent = /(Omit|Pick)<(\w+)(?:<\w+>)?,\s*([^>]*)>|(\w+)(?:<\w+>)?/g;

const literalsIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(/'([^']+)'/g), ([, name = '']) => name);

function parentOf([, how, name = '', keys = '', whole = '']: RegExpExecArray): Parent {
  if (how === undefined) return { name: whole };
  return how === 'Omit' ? { name, without: literalsIn(keys) } : { name, only: literalsIn(keys) };
}

function membersIn(body: string): readonly SourceMember[] {
  return Array.from(body.matchAll(member), ([, name = '', type = '']) => ({
    name,
    isFunction: functionType.test(type),
  }));
}

export function interfacesIn(source: string): readonly SourceInterface[] {
  return Array.from(source.matchAll(declaration), ([, name = '', parents = '', body = '']) => ({
    name,
    members: membersIn(body),
    parents: Array.from(parents.matchAll(parent), parentOf),
  }));
}

/** The names of all members, with those of the parents that `all` declares. */
export function membersOf(of: SourceInterface, all: readonly SourceInterface[]): ReadonlySet<string> {
  const inherited = of.parents.flatMap(({ name, only, without = [] }) => {
    const declared = all.find((each) => each.name === name);
    const names = declared === undefined ? (only ?? []) : [...membersOf(declared, all)];
    return names.filter((each) => !without.includes(each) && (only?.includes(each) ?? true));
  });
  return new Set([...of.members.map(({ name }) => name), ...inherited]);
}
