// Makes the options of one process out of its command line, its environment, a directory and the defaults. Everything
// that is wrong is said at once and nothing is guessed. It reads the outside only through what it is given.
import { type ConfigDirectory, readConfigDirectory } from './config-directory.ts';
import { findContradictions } from './contradictions.ts';
import { findGivenText, type GivenFlags, type Places } from './given-text.ts';
import { type OptionSource, type OptionSources, refusalLine } from './option-source.ts';
import type { OptionRow, Surroundings } from './option-row.ts';
import { optionNames, optionTable, propertyOf, type OptionName, type Options } from './option-table.ts';
import { type Outbound, readOutbound } from './outbound.ts';
import {
  type Remark,
  remarksOnCallCap,
  remarksOnCollection,
  remarksOnGivingBack,
  remarksOnIgnored,
} from './remarks.ts';

export type LoadedOptions =
  | {
      readonly kind: 'options';
      readonly options: Options;
      readonly sources: OptionSources;
      readonly outbound: Outbound;
      /** Worth saying once at start. */
      readonly notices: readonly Remark[];
      /** Worth acting on. */
      readonly warnings: readonly Remark[];
    }
  | {
      readonly kind: 'refused';
      /** One line each: the option, the value, where it came from, and what is accepted. */
      readonly problems: readonly string[];
    };

export function loadOptions(flags: GivenFlags, surroundings: Surroundings): LoadedOptions {
  const { directory, problems } = openConfigDirectory(flags, surroundings);
  const values = new Map<OptionName, unknown>();
  const found = new Map<OptionName, OptionSource>();

  for (const name of optionNames) {
    const { source, reading } = readOption(name, { flags, surroundings, directory });
    const accepted = optionTable[name].kind.accepts;
    if (reading.kind === 'value') values.set(name, reading.value);
    else problems.push(refusalLine({ name, source, text: reading.text, accepted }));
    found.set(name, source);
  }
  if (problems.length > 0) return { kind: 'refused', problems };

  const sources = Object.fromEntries(found) as OptionSources;
  const options = compile(values, sources);
  const {
    outbound,
    problems: outboundProblems,
    remarks: outboundRemarks,
  } = readOutbound({ path: options.extraCaFile, source: sources['extra-ca-file'] }, surroundings);
  const contradictions = [...findContradictions(options, sources), ...outboundProblems];
  if (contradictions.length > 0) return { kind: 'refused', problems: contradictions };

  const remarks = [
    ...remarksOnIgnored(flags, surroundings),
    ...remarksOnCallCap(options, sources),
    ...remarksOnCollection(options),
    ...remarksOnGivingBack(options),
    ...outboundRemarks,
  ];
  const { notice: notices = [], warning: warnings = [] } = Object.groupBy(remarks, ({ kind }) => kind);
  return { kind: 'options', options, sources, outbound, notices, warnings };
}

export interface ReadOption {
  readonly source: OptionSource;
  readonly reading: Reading;
}

/** The value of one option, or the text that is refused, and where it comes from. */
export function readOption(name: OptionName, places: Places): ReadOption {
  const { source, texts } = findGivenText(name, places);
  return { source, reading: readTexts(optionTable[name], texts) };
}

interface OpenedDirectory {
  readonly directory: ConfigDirectory | undefined;
  readonly problems: string[];
}

/** `names`: the options whose files are opened. */
export function openConfigDirectory(
  flags: GivenFlags,
  surroundings: Surroundings,
  names: readonly OptionName[] = optionNames,
): OpenedDirectory {
  const { source, texts } = findGivenText('config-dir', { flags, surroundings, directory: undefined });
  const path = texts.at(-1) ?? '';
  if (path === '') return { directory: undefined, problems: [] };

  const directory = readConfigDirectory(path, surroundings, names);
  const { accepts } = optionTable['config-dir'].kind;
  const problems = directory.failures.map(({ name, path: file, because }) =>
    name === undefined
      ? refusalLine({ name: 'config-dir', source, text: path, because, accepted: accepts })
      : refusalLine({ name, source: { kind: 'file', path: file }, because, accepted: 'a readable file' }),
  );
  return { directory, problems };
}

export type Reading =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly text: string };

function readTexts({ kind, default: fallback }: OptionRow, texts: readonly string[]): Reading {
  const unset = fallback === undefined && texts.every((text) => text === '');
  if (unset) return { kind: 'value', value: undefined };

  const values: unknown[] = [];
  for (const text of texts) {
    const value = text === '' ? kind.empty : kind.parse(text);
    if (value === undefined) return { kind: 'refused', text };
    values.push(value);
  }
  return { kind: 'value', value: kind.combine === undefined ? values.at(-1) : kind.combine(values) };
}

function compile(values: ReadonlyMap<OptionName, unknown>, sources: OptionSources): Options {
  const entries = [...values].map(([name, value]) => [propertyOf(name), value] as const);
  const options = Object.fromEntries(entries) as unknown as Options;
  const louder = options.debug && sources['log-level'].kind === 'default';
  return louder ? { ...options, logLevel: 'debug' } : options;
}
