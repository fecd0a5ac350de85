// Reads the options that may change while the process runs, by the same rules as at the start: what is wrong with one
// concerns that one alone.
import type { GivenFlags } from './given-text.ts';
import { openConfigDirectory, readOption } from './load-options.ts';
import { refusalLine } from './option-source.ts';
import type { Surroundings } from './option-row.ts';
import { optionNames, optionTable, type Options, propertyOf } from './option-table.ts';

export type LiveValues = Pick<Options, 'dryRun' | 'pause'>;

export interface LiveReading {
  /** Without those that are refused. */
  readonly values: Partial<LiveValues>;
  /** One line each: the option, the value, where it came from, and what is accepted. */
  readonly problems: readonly string[];
}

const liveNames = optionNames.filter((name) => optionTable[name].live === true);

export function readLiveOptions(flags: GivenFlags, surroundings: Surroundings): LiveReading {
  const { directory, problems } = openConfigDirectory(flags, surroundings, liveNames);
  // What a directory says that cannot be read is not known: it is no reason to fall back to a default.
  if (problems.length > 0) return { values: {}, problems };
  const values: [keyof Options, unknown][] = [];
  const refused: string[] = [];
  for (const name of liveNames) {
    const { source, reading } = readOption(name, { flags, surroundings, directory });
    if (reading.kind === 'value') values.push([propertyOf(name), reading.value]);
    else
      refused.push(
        refusalLine({ name, source, text: reading.text, accepted: optionTable[name].kind.accepts }),
      );
  }
  return { values: Object.fromEntries(values) as Partial<LiveValues>, problems: refused };
}
