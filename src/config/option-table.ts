// The one table of options. It makes the flags, the environment names, the help, docs/options.md and the type that the
// rest of the code sees. Nothing is configured anywhere else.
import { awsOptions } from './options/aws-options.ts';
import { callOptions } from './options/call-options.ts';
import { kubernetesOptions } from './options/kubernetes-options.ts';
import { releaseOptions } from './options/release-options.ts';
import type { OptionWithoutEffect } from './options/options-without-effect.ts';
import { processOptions } from './options/process-options.ts';
import { supplyOptions } from './options/supply-options.ts';
import type { OptionRow } from './option-row.ts';
import type { ValueKind } from './value-kinds.ts';

const table = {
  ...supplyOptions,
  ...releaseOptions,
  ...awsOptions,
  ...callOptions,
  ...kubernetesOptions,
  ...processOptions,
};

export type OptionName = keyof typeof table;

/** Every option with an effect, by its name without dashes in front. */
export const optionTable: Readonly<Record<OptionName, OptionRow>> = table;

export const optionNames = Object.keys(table) as readonly OptionName[];

/** What the code sees: durations in milliseconds, undefined where an option without a default is unset. */
export type Options = {
  readonly [Name in OptionName as CamelCase<Name>]: ValueOf<(typeof table)[Name]>;
};

type ValueOf<Row> = Row extends { readonly kind: ValueKind<infer Value> }
  ? Row extends { readonly default: unknown }
    ? Value
    : Value | undefined
  : never;

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The name of an option in the type Options. */
export function propertyOf(name: OptionName): keyof Options {
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()) as keyof Options;
}

/** The environment variable of an option. */
export function environmentNameOf(name: OptionName | OptionWithoutEffect): string {
  const origin = name in optionTable ? optionTable[name as OptionName].origin : 'operator';
  const prefix = origin === 'operator' ? 'CILIUM' : 'HEADWATER';
  return `${prefix}_${name.replaceAll('-', '_').toUpperCase()}`;
}
