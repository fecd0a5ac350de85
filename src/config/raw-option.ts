// Decides which source sets an option: the command line, then the environment, then the directory, then the default.
import type { ConfigDirectory } from './config-directory.ts';
import type { OptionSource } from './option-source.ts';
import type { OptionRow, ProcessEnvironment } from './option-row.ts';
import { defaultsIn, type OptionScope } from './option-scope.ts';
import { environmentNameOf, type OptionName, optionTable } from './option-table.ts';

/** Texts of flags, by option name without dashes, in the order given. */
export type RawFlags = ReadonlyMap<string, readonly string[]>;

export interface Places {
  readonly flags: RawFlags;
  readonly processEnvironment: ProcessEnvironment;
  /** Undefined without a configuration directory. */
  readonly directory: ConfigDirectory | undefined;
}

export interface RawOption {
  readonly source: OptionSource;
  /** Several only for a repeated flag; none for an unset option. */
  readonly texts: readonly string[];
}

/**
 * The first source with a value. An empty variable or file does not count, because templates produce them; an empty
 * flag does. A text that unsets the option never counts.
 */
export function findRawOption(
  name: OptionName,
  { flags, processEnvironment, directory }: Places,
  scope: OptionScope = 'cloud',
): RawOption {
  const { environment } = processEnvironment;
  const { legacyVariable: variable = '' } = optionTable[name];
  const file = directory?.files.get(name);
  const candidates: readonly RawOption[] = [
    { source: { kind: 'flag' }, texts: (flags.get(name) ?? []).map((text) => text.trim()) },
    { source: { kind: 'environment' }, texts: textsIn(environment, environmentNameOf(name)) },
    ...(file === undefined || file.text === ''
      ? []
      : [{ source: { kind: 'file', path: file.path }, texts: [file.text] } as const]),
    { source: { kind: 'environment', variable }, texts: textsIn(environment, variable) },
  ];
  const given = candidates
    .map(({ source, texts }) => ({ source, texts: texts.filter((text) => !unsets(name, text)) }))
    .find(({ texts }) => texts.length > 0);
  if (given !== undefined) return given;
  const row = { ...optionTable[name], ...defaultsIn[scope][name] };
  return { source: { kind: 'default' }, texts: defaultTexts(row, processEnvironment) };
}

function unsets(name: OptionName, text: string): boolean {
  return Object.hasOwn(optionTable[name].unsetBy ?? {}, text);
}

function textsIn(environment: ProcessEnvironment['environment'], variable: string): readonly string[] {
  const text = environment[variable]?.trim() ?? '';
  return text === '' ? [] : [text];
}

function defaultTexts(
  { default: fallback }: OptionRow,
  processEnvironment: ProcessEnvironment,
): readonly string[] {
  if (fallback === undefined) return [];
  return [typeof fallback === 'string' ? fallback : fallback.find(processEnvironment)];
}
