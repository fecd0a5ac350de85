// Loads the options of one process from its command line, environment, directory and defaults. It reports all problems
// at once and guesses nothing. Its arguments are its only access to the outside.
import { type ConfigDirectory, readConfigDirectory } from './config-directory.ts';
import { crossValidate } from './cross-validation.ts';
import { findRawOption, type RawFlags, type Places } from './raw-option.ts';
import { type OptionRefusal, type OptionSource, type OptionSources, refusalLine } from './option-source.ts';
import { refusedTags } from './interface-tags.ts';
import type { CloudMode } from './clouds/clouds.ts';
import type { OptionRow, ProcessEnvironment } from './option-row.ts';
import { type ConfiguredCommand, countsIn, kindIn, type OptionScope } from './option-scope.ts';
import { optionNames, optionTable, propertyOf, type OptionName, type Options } from './option-table.ts';
import { type Outbound, readOutbound } from './outbound.ts';
import {
  type OptionWarning,
  warningsOnCallCap,
  warningsOnCollection,
  warningsOnReleaseWindow,
  warningsOnIdle,
  warningsOnIdleBlocks,
  warningsOnIgnored,
  warningsOnOtherClouds,
} from './option-warnings.ts';
import { isWithoutEffect } from './options/options-without-effect.ts';

export type LoadedOptions =
  | {
      readonly kind: 'options';
      readonly options: Options;
      readonly sources: OptionSources;
      /** The texts as given, of options that were set only. */
      readonly texts: ReadonlyMap<OptionName, readonly string[]>;
      readonly outbound: Outbound;
      /** Worth logging once at startup. */
      readonly notices: readonly OptionWarning[];
      /** Worth acting on. */
      readonly warnings: readonly OptionWarning[];
    }
  | {
      readonly kind: 'refused';
      /** A line for each problem: the option, the value, its source, and the accepted values. */
      readonly problems: readonly string[];
    };

/** The values of options, as their checks read them. */
export interface ReadValues {
  readonly options: Options;
  readonly sources: OptionSources;
  readonly scope: OptionScope;
  /** Options that have their default instead of what was given. */
  readonly refused: ReadonlySet<OptionName>;
}

/** The checks of options that belong to one room: blocks to nodes, or the agent of a node. */
export interface RoomChecks {
  /** A line for each broken rule. */
  problems(values: ReadValues): readonly string[];
  warnings(options: Options, scope: OptionScope): readonly OptionWarning[];
}

export function loadOptions(
  flags: RawFlags,
  processEnvironment: ProcessEnvironment,
  { command = 'run', checks }: { readonly command?: ConfiguredCommand; readonly checks: RoomChecks },
): LoadedOptions {
  const { directory, problems, unread } = openConfigDirectory(flags, processEnvironment);
  const places = { flags, processEnvironment, directory };
  const scope = scopeOf(command, places);
  const { values, found, rawTexts, idle, refusals } = readAll(scope, places);
  const refused = new Set([...unread, ...refusals.map(({ name }) => name)]);
  problems.push(...refusals.map(refusalLine));
  // Without them it is not known what the others are.
  if (refused.has('ipam') || refused.has('config-dir')) return { kind: 'refused', problems };

  const sources = Object.fromEntries(found) as OptionSources;
  const options = compile(values, sources);
  const {
    outbound,
    problems: outboundProblems,
    warnings: outboundWarnings,
  } = readOutbound({ path: options.extraCaFile, source: sources['extra-ca-file'] }, processEnvironment);
  const conflicts = [
    ...crossValidate(options, sources),
    ...checks.problems({ options, sources, scope, refused }),
    ...(scope === 'cloud' ? refusedTags(options, sources) : []),
    ...outboundProblems,
  ];
  problems.push(...conflicts.filter((line) => !isAbout(line, refused)));
  if (problems.length > 0) return { kind: 'refused', problems };

  const unexplained = idle.filter((name) => !isWithoutEffect(command, name));
  const all = [
    ...(scope === 'cloud'
      ? warningsOnIdleBlocks(unexplained, places, options)
      : warningsOnIdle(unexplained, scope)),
    ...warningsOnIgnored(command, places),
    ...(scope === 'cloud' ? cloudWarnings(options, sources) : checks.warnings(options, scope)),
    ...outboundWarnings,
  ];
  const { notice: notices = [], warning: warnings = [] } = Object.groupBy(all, ({ kind }) => kind);
  return { kind: 'options', options, sources, texts: rawTexts, outbound, notices, warnings };
}

/** Whether a problem names one of these: what it says of that is about the default. */
function isAbout(line: string, names: ReadonlySet<OptionName>): boolean {
  const words = new Set(line.match(/[\w-]+/g));
  return [...names].some((name) => words.has(name));
}

interface ReadOptions {
  readonly values: ReadonlyMap<OptionName, unknown>;
  readonly found: ReadonlyMap<OptionName, OptionSource>;
  readonly rawTexts: ReadonlyMap<OptionName, readonly string[]>;
  /** Given, without effect in the scope. */
  readonly idle: readonly OptionName[];
  /** These have their default among the values. */
  readonly refusals: readonly OptionRefusal[];
}

function readAll(scope: OptionScope, places: Places): ReadOptions {
  const values = new Map<OptionName, unknown>();
  const found = new Map<OptionName, OptionSource>();
  const rawTexts = new Map<OptionName, readonly string[]>();
  const idle: OptionName[] = [];
  const refusals: OptionRefusal[] = [];
  for (const name of optionNames) {
    const isIdle = !countsIn(scope, name);
    if (isIdle && findRawOption(name, places).source.kind !== 'default') idle.push(name);
    const { source, texts, reading } = readOption(name, isIdle ? nowhere(places) : places, scope);
    const { accepts } = kindIn(scope, name);
    values.set(name, reading.kind === 'value' ? reading.value : defaultOf(name, places));
    if (reading.kind === 'refused' && !isForOthers(name, source, places))
      refusals.push({ name, source, text: reading.text, accepted: accepts });
    found.set(name, source);
    if (source.kind !== 'default') rawTexts.set(name, texts);
  }
  return { values, found, rawTexts, idle, refusals };
}

export interface ReadOption {
  readonly source: OptionSource;
  readonly texts: readonly string[];
  readonly reading: Reading;
}

/** The value of one option, or the rejected text, and its source. */
export function readOption(name: OptionName, places: Places, scope: OptionScope = 'cloud'): ReadOption {
  const { source, texts } = findRawOption(name, places, scope);
  return { source, texts, reading: readTexts({ ...optionTable[name], kind: kindIn(scope, name) }, texts) };
}

/** The mode decides which options count, so it is read first. */
export function scopeOf(command: ConfiguredCommand, places: Places): OptionScope {
  if (command !== 'run') return command;
  const { reading } = readOption('ipam', places);
  const mode = reading.kind === 'value' ? reading.value : undefined;
  return mode === 'cluster-pool' || mode === 'multi-pool' ? mode : 'cloud';
}

/** A variable that other programs read too may have any value while its cloud is not served. */
function isForOthers(name: OptionName, source: OptionSource, places: Places): boolean {
  const { cloud }: OptionRow = optionTable[name];
  if (cloud === undefined || source.kind !== 'environment' || source.variable === undefined) return false;
  const { reading } = readOption('ipam', places);
  return reading.kind === 'value' && ![cloud].flat().includes(reading.value as CloudMode);
}

function defaultOf(name: OptionName, places: Places): unknown {
  const { reading } = readOption(name, nowhere(places));
  return reading.kind === 'value' ? reading.value : undefined;
}

/** Only defaults. */
function nowhere({ processEnvironment }: Places): Places {
  return {
    flags: new Map(),
    processEnvironment: { ...processEnvironment, environment: {} },
    directory: undefined,
  };
}

function cloudWarnings(options: Options, sources: OptionSources): readonly OptionWarning[] {
  return [
    ...warningsOnOtherClouds(options, sources),
    ...warningsOnCallCap(options, sources),
    ...warningsOnCollection(options),
    ...warningsOnReleaseWindow(options),
  ];
}

interface OpenedDirectory {
  readonly directory: ConfigDirectory | undefined;
  readonly problems: string[];
  /** Options whose values are not known because of these problems. */
  readonly unread: readonly OptionName[];
}

/** `names`: the options whose files to open. */
export function openConfigDirectory(
  flags: RawFlags,
  processEnvironment: ProcessEnvironment,
  names: readonly OptionName[] = optionNames,
): OpenedDirectory {
  const { source, texts } = findRawOption('config-dir', { flags, processEnvironment, directory: undefined });
  const path = texts.at(-1) ?? '';
  if (path === '') return { directory: undefined, problems: [], unread: [] };

  const directory = readConfigDirectory(path, processEnvironment, names);
  const { accepts } = optionTable['config-dir'].kind;
  const problems = directory.failures.map(({ name, path: file, because }) =>
    name === undefined
      ? refusalLine({ name: 'config-dir', source, text: path, because, accepted: accepts })
      : refusalLine({ name, source: { kind: 'file', path: file }, because, accepted: 'a readable file' }),
  );
  return { directory, problems, unread: directory.failures.map(({ name = 'config-dir' }) => name) };
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
