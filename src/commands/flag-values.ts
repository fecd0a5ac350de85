// The values of flags that a command has of its own, and of the options of the controller that it takes to ask.
import { type LoadedOptions, loadOptions } from '../config/load-options.ts';
import type { OptionName } from '../config/option-table.ts';
import { thisProcess } from '../config/process-environment.ts';
import type { RawFlags } from '../config/raw-option.ts';
import type { ValueKind } from '../config/value-kinds.ts';

type Kinds = Readonly<Record<string, ValueKind<unknown>>>;

/** Undefined for a flag that is not given. */
export type Values<K extends Kinds> = {
  readonly [N in keyof K]: K[N] extends ValueKind<infer T> ? T | undefined : never;
};

/** Returns which texts are not accepted, in words, if any are not. */
export function readFlags<K extends Kinds>(given: RawFlags, kinds: K): Values<K> | string {
  const problems: string[] = [];
  const entries = Object.entries(kinds).map(([name, kind]) => {
    const read = (given.get(name) ?? []).flatMap((text) => {
      const value = kind.parse(text);
      if (value === undefined)
        problems.push(`--${name} is ${JSON.stringify(text)}; accepted: ${kind.accepts}`);
      return value === undefined ? [] : [{ value }];
    });
    const values = read.map(({ value }) => value);
    return [name, values.length === 0 ? undefined : (kind.combine?.(values) ?? values.at(-1))] as const;
  });
  return problems.length > 0 ? problems.join('; ') : (Object.fromEntries(entries) as Values<K>);
}

const noChecks = { problems: () => [], warnings: () => [] };

/** Loads the options as of the command run, by these flags alone. Returns what is wrong with them. */
export function optionsAmong(
  given: RawFlags,
  names: readonly OptionName[],
): Extract<LoadedOptions, { kind: 'options' }> | string {
  const flags = new Map([...given].filter(([name]) => names.some((known) => known === name)));
  const loaded = loadOptions(flags, thisProcess, { checks: noChecks });
  return loaded.kind === 'refused' ? loaded.problems.join('; ') : loaded;
}

export function lastOf(given: RawFlags, name: string): string | undefined {
  return given.get(name)?.at(-1);
}
