// Which place speaks for an option: the command line, else the environment, else the directory, else the default.
import type { ConfigDirectory } from './config-directory.ts';
import type { OptionSource } from './option-source.ts';
import type { OptionRow, Surroundings } from './option-row.ts';
import { environmentNameOf, type OptionName, optionTable } from './option-table.ts';

/** Texts given by flags, by the option's name without dashes, in the order given. */
export type GivenFlags = ReadonlyMap<string, readonly string[]>;

export interface Places {
  readonly flags: GivenFlags;
  readonly surroundings: Surroundings;
  /** Undefined where there is none. */
  readonly directory: ConfigDirectory | undefined;
}

export interface GivenText {
  readonly source: OptionSource;
  /** More than one only if a flag was repeated; none for an option that is unset. */
  readonly texts: readonly string[];
}

/**
 * The first place that says something. An empty variable or file says nothing, since that is what templates leave
 * behind; an empty flag is meant.
 */
export function findGivenText(name: OptionName, { flags, surroundings, directory }: Places): GivenText {
  const byFlag = flags.get(name);
  if (byFlag !== undefined) return { source: { kind: 'flag' }, texts: byFlag.map((text) => text.trim()) };

  const byEnvironment = surroundings.environment[environmentNameOf(name)]?.trim() ?? '';
  if (byEnvironment !== '') return { source: { kind: 'environment' }, texts: [byEnvironment] };

  const { path = '', text: byFile = '' } = directory?.files.get(name) ?? {};
  if (byFile !== '') return { source: { kind: 'file', path }, texts: [byFile] };

  return { source: { kind: 'default' }, texts: defaultTexts(optionTable[name], surroundings) };
}

function defaultTexts({ default: fallback }: OptionRow, surroundings: Surroundings): readonly string[] {
  if (fallback === undefined) return [];
  return [typeof fallback === 'string' ? fallback : fallback.find(surroundings)];
}
