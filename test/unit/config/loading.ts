// Loads options as a process does, from flags, an environment and files that a test gives.
import { blockChecks } from '../../../src/blocks/settings/block-pools.ts';
import { loadOptions } from '../../../src/config/load-options.ts';
import type { OptionCommand } from '../../../src/config/option-scope.ts';

export interface Outside {
  readonly flags?: Readonly<Record<string, readonly string[]>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Files by their whole path. */
  readonly files?: Readonly<Record<string, string>>;
}

export type Loaded = ReturnType<typeof loadOptions>;

/** The values of the given options. */
export function load(
  { flags = {}, environment = {}, files = {} }: Outside,
  command: OptionCommand = 'run',
): Loaded {
  const missing = (): never => {
    throw Object.assign(new Error('missing'), { code: 'ENOENT' });
  };
  const outside = {
    environment,
    readFile: (path: string) => files[path] ?? missing(),
    readDirectory: (path: string) =>
      Object.keys(files)
        .filter((file) => file.startsWith(`${path}/`))
        .map((file) => file.slice(path.length + 1)),
  };
  return loadOptions(new Map(Object.entries(flags)), outside, { command, checks: blockChecks });
}

export function accepted(loaded: Loaded): Extract<Loaded, { kind: 'options' }> {
  if (loaded.kind === 'refused') throw new Error(loaded.problems.join('\n'));
  return loaded;
}

export function problemsOf(loaded: Loaded): readonly string[] {
  return loaded.kind === 'refused' ? loaded.problems : [];
}
