// Filters of the Describe actions. Names combine with "and", values of one name with "or". `*` matches any
// text, `?` one character, and a backslash escapes either
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html).
import type { NetworkView } from '../cloud/cloud-network.ts';
import type { Tags } from '../cloud/records.ts';
import { Ec2Refusal, invalidParameterValue } from './ec2-refusal.ts';
import { list, type Members, record, text } from './shape.ts';

/** The parameter that all filtering actions share. */
export const filterShape = list(record({ Name: text, Values: { ...list(text), wire: 'Value' } }));

export type Filter = Members<{ Name: typeof text; Values: ReturnType<typeof list<typeof text>> }>;

/** The values that a filter of that name matches against: one value, several, or nothing. */
export type FilterTable<T> = Readonly<Record<string, (record: T, view: NetworkView) => FilterSubject>>;

type FilterSubject = string | number | boolean | undefined | readonly (string | undefined)[];

/** Maximum values of all filters in a request, and maximum length of each. */
const maxValues = 200;
const maxValueCharacters = 255;

/** A test for records. Refuses filters that the table does not know. */
export function compileFilters<T extends { readonly tags?: Tags }>(
  filters: readonly Filter[],
  table: FilterTable<T>,
): (record: T, view: NetworkView) => boolean {
  const values = filters.reduce((count, filter) => count + (filter.Values?.length ?? 0), 0);
  if (values > maxValues) {
    throw new Ec2Refusal(
      'FilterLimitExceeded',
      `The maximum number of filter values specified on a single call is ${maxValues}`,
    );
  }
  const tooLong = filters.find(({ Values = [] }) =>
    Values.some((value) => value.length > maxValueCharacters),
  );
  if (tooLong !== undefined) {
    throw new Ec2Refusal(
      'FilterLimitExceeded',
      `The maximum length for a filter value is ${maxValueCharacters} characters`,
    );
  }
  const tests = filters.map(({ Name = '', Values = [] }) => {
    const subject = subjectOf(Name, table);
    const fits = matcher(Values);
    return (record: T, view: NetworkView): boolean => subjects(subject(record, view)).some(fits);
  });
  return (record, view) => tests.every((test) => test(record, view));
}

/** Whether any pattern matches the whole text. */
export function matcher(patterns: readonly string[]): (text: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !/[*?\\]/.test(pattern)));
  const wild = patterns.filter((pattern) => !exact.has(pattern)).map(expressionOf);
  return (text) => exact.has(text) || wild.some((expression) => expression.test(text));
}

/** Whether a pattern matches any text. */
export function matchesEverything(pattern: string): boolean {
  return /^\*+$/.test(pattern);
}

function subjectOf<T extends { readonly tags?: Tags }>(
  name: string,
  table: FilterTable<T>,
): FilterTable<T>[string] {
  if (name.startsWith('tag:')) return (record) => record.tags?.[name.slice('tag:'.length)];
  if (name === 'tag-key') return (record) => Object.keys(record.tags ?? {});
  if (name === 'tag-value') return (record) => Object.values(record.tags ?? {});
  const subject = Object.hasOwn(table, name) ? table[name] : undefined;
  if (subject === undefined) throw invalidParameterValue(`The filter '${name}' is invalid`);
  return subject;
}

function subjects(subject: FilterSubject): readonly string[] {
  const several = Array.isArray(subject) ? (subject as readonly (string | undefined)[]) : [subject];
  return several.filter((one) => one !== undefined).map(String);
}

function expressionOf(pattern: string): RegExp {
  const source = pattern.replace(/\\[*?\\]|[\s\S]/g, (sign) => {
    if (sign === '*') return '[\\s\\S]*';
    if (sign === '?') return '[\\s\\S]';
    return escape(sign.length === 2 ? sign.slice(1) : sign);
  });
  return new RegExp(`^${source}$`);
}

function escape(sign: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(sign) ? `\\${sign}` : sign;
}
