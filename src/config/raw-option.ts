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
 * flag does.
 */
export function findRawOption(
  name: OptionName,
  { flags, processEnvironment, directory }: Places,
  scope: OptionScope = 'cloud',
): RawOption {
  const byFlag = flags.get(name);
  if (byFlag !== undefined) return { source: { kind: 'flag' }, texts: byFlag.map((text) => text.trim()) };

  const { environment } = processEnvironment;
  const byEnvironment = textIn(environment, environmentNameOf(name));
  if (byEnvironment !== '') return { source: { kind: 'environment' }, texts: [byEnvironment] };

  const byFile = directory?.files.get(name);
  if (byFile !== undefined && byFile.text !== '')
    return { source: { kind: 'file', path: byFile.path }, texts: [byFile.text] };

  const { legacyVariable: variable = '' } = optionTable[name];
  const byLegacy = textIn(environment, variable);
  if (byLegacy !== '') return { source: { kind: 'environment', variable }, texts: [byLegacy] };

  const row = { ...optionTable[name], ...defaultsIn[scope][name] };
  return { source: { kind: 'default' }, texts: defaultTexts(row, processEnvironment) };
}

function textIn(environment: ProcessEnvironment['environment'], variable: string): string {
  return environment[variable]?.trim() ?? '';
}

function defaultTexts(
  { default: fallback }: OptionRow,
  processEnvironment: ProcessEnvironment,
): readonly string[] {
  if (fallback === undefined) return [];
  return [typeof fallback === 'string' ? fallback : fallback.find(processEnvironment)];
}
