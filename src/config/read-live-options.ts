// Reads the live options by the same rules as at startup. A problem with one affects only that one.
import type { RawFlags } from './raw-option.ts';
import { openConfigDirectory, readOption } from './load-options.ts';
import { refusalLine } from './option-source.ts';
import type { ProcessEnvironment } from './option-row.ts';
import { optionNames, optionTable, type Options, propertyOf } from './option-table.ts';

export type LiveValues = Pick<Options, 'dryRun' | 'pause' | 'allowWithdrawals'>;

export interface LiveReading {
  /** The values, without rejected options. */
  readonly values: Partial<LiveValues>;
  /** A line for each problem: the option, the value, its source, and the accepted values. */
  readonly problems: readonly string[];
}

const liveNames = optionNames.filter((name) => optionTable[name].live === true);

export function readLiveOptions(flags: RawFlags, processEnvironment: ProcessEnvironment): LiveReading {
  const { directory, problems } = openConfigDirectory(flags, processEnvironment, liveNames);
  // The content of an unreadable directory is unknown, so it must not cause a fallback to defaults.
  if (problems.length > 0) return { values: {}, problems };
  const values: [keyof Options, unknown][] = [];
  const refused: string[] = [];
  for (const name of liveNames) {
    const { source, reading } = readOption(name, { flags, processEnvironment, directory });
    if (reading.kind === 'value') values.push([propertyOf(name), reading.value]);
    else
      refused.push(
        refusalLine({ name, source, text: reading.text, accepted: optionTable[name].kind.accepts }),
      );
  }
  return { values: Object.fromEntries(values) as Partial<LiveValues>, problems: refused };
}
