// Describes where an option's value came from and words a refusal in one line. It decides nothing.
import { plainValue } from '../network/untrusted-text.ts';
import { environmentNameOf, type OptionName } from './option-table.ts';

export type OptionSource =
  | { readonly kind: 'flag' }
  /** `variable`: if it is not the option's own. */
  | { readonly kind: 'environment'; readonly variable?: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'default' };

export type OptionSources = Readonly<Record<OptionName, OptionSource>>;

export interface OptionRefusal {
  readonly name: OptionName;
  readonly source: OptionSource;
  /** As given, and shown unless it may be a credential; undefined when unreadable. */
  readonly text?: string;
  /** The reason, if `accepted` does not explain it. */
  readonly because?: string;
  /** In words. */
  readonly accepted: string;
}

/** A line with the option, the value, its source, and the accepted values. */
export function refusalLine({ name, source, text, because, accepted }: OptionRefusal): string {
  const place = sourceInWords(name, source);
  const what = text === undefined ? place : `${valueInWords(text)} ${place}`;
  const reason = because === undefined ? '' : ` because ${because}`;
  return `${name}: ${what} is refused${reason}; accepted: ${accepted}`;
}

/** The source of a value, worded to follow "from". */
export function sourceInWords(name: OptionName, source: OptionSource): string {
  if (source.kind === 'flag') return `the flag --${name}`;
  if (source.kind === 'environment')
    return `the environment variable ${source.variable ?? environmentNameOf(name)}`;
  return source.kind === 'file' ? `the file ${source.path}` : 'the default';
}

function valueInWords(text: string): string {
  const shown = plainValue(text);
  return text === '' || shown !== undefined ? `${JSON.stringify(shown ?? '')} from` : 'the value of';
}
