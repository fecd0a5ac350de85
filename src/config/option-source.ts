// Where the value of an option came from, and how a value is refused in one line. It decides nothing.
import { environmentNameOf, type OptionName } from './option-table.ts';

export type OptionSource =
  | { readonly kind: 'flag' }
  | { readonly kind: 'environment' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'default' };

export type OptionSources = Readonly<Record<OptionName, OptionSource>>;

export interface Refusal {
  readonly name: OptionName;
  readonly source: OptionSource;
  /** As it was given; undefined when it could not be read. */
  readonly text?: string;
  /** Why, where it does not follow from what is accepted. */
  readonly because?: string;
  /** In words. */
  readonly accepted: string;
}

/** One line: the option, the value, where it came from, and what is accepted. */
export function refusalLine({ name, source, text, because, accepted }: Refusal): string {
  const place = sourceInWords(name, source);
  const what = text === undefined ? place : `${quote(text)} from ${place}`;
  const reason = because === undefined ? '' : ` because ${because}`;
  return `${name}: ${what} is refused${reason}; accepted: ${accepted}`;
}

/** Where a value came from, to stand after "from". */
export function sourceInWords(name: OptionName, source: OptionSource): string {
  if (source.kind === 'flag') return `the flag --${name}`;
  if (source.kind === 'environment') return `the environment variable ${environmentNameOf(name)}`;
  return source.kind === 'file' ? `the file ${source.path}` : 'the default';
}

/** On one line whatever it holds, and short enough to leave room for what is accepted. */
function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}
