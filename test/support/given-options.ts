// Options as a process loads them, from the flags that a test gives.
import { blockChecks } from '../../src/blocks/settings/block-pools.ts';
import { loadOptions } from '../../src/config/load-options.ts';
import type { ProcessEnvironment } from '../../src/config/option-row.ts';
import type { Options } from '../../src/config/option-table.ts';
import type { RawFlags } from '../../src/config/raw-option.ts';

/** By name, without dashes. */
export type GivenFlags = Readonly<Record<string, string>>;

/** No variable is set, and no file exists. */
export const emptyEnvironment: ProcessEnvironment = {
  environment: {},
  readFile: absent,
  readDirectory: absent,
};

export function rawFlags(flags: GivenFlags): RawFlags {
  return new Map(Object.entries(flags).map(([name, value]) => [name, [value]]));
}

/** Throws if they are refused. */
export function optionsOf(flags: GivenFlags, processEnvironment = emptyEnvironment): Options {
  const loaded = loadOptions(rawFlags(flags), processEnvironment, { checks: blockChecks });
  if (loaded.kind === 'refused') throw new Error(loaded.problems.join('\n'));
  return loaded.options;
}

function absent(path: string): never {
  throw Object.assign(new Error(path), { code: 'ENOENT' });
}
