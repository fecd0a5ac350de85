// The single table of options; its rows are in options/. Flags, environment names, help, docs/options.md and the type of
// the options derive from it; nothing is configured elsewhere.
import { agentOptions } from './options/agent-options.ts';
import { blockOptions, ciliumNodeOptions } from './options/block-options.ts';
import { nodeIpamOptions } from './options/node-ipam-options.ts';
import { awsOptions } from './options/aws-options.ts';
import { alibabaOptions } from './options/alibaba-options.ts';
import { azureOptions } from './options/azure-options.ts';
import { callOptions } from './options/call-options.ts';
import { kubernetesOptions } from './options/kubernetes-options.ts';
import { releaseOptions } from './options/release-options.ts';
import { processOptions } from './options/process-options.ts';
import { allocationOptions } from './options/allocation-options.ts';
import type { OptionRow } from './option-row.ts';
import type { ValueKind } from './value-kinds.ts';

const table = {
  ...allocationOptions,
  ...releaseOptions,
  ...blockOptions,
  ...ciliumNodeOptions,
  ...awsOptions,
  ...azureOptions,
  ...alibabaOptions,
  ...callOptions,
  ...kubernetesOptions,
  ...processOptions,
  ...nodeIpamOptions,
  ...agentOptions,
};

export type OptionName = keyof typeof table;

/** Every option with an effect, by name without leading dashes. */
export const optionTable: Readonly<Record<OptionName, OptionRow>> = table;

export const optionNames = Object.keys(table) as readonly OptionName[];

/** The options as code sees them: durations in ms, undefined for an unset option without a default. */
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

export function propertyOf(name: OptionName): keyof Options {
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()) as keyof Options;
}

/** The environment variable of an option, also of one of cilium-operator that is not in the table. */
export function environmentNameOf(name: string): string {
  const origin = name in optionTable ? optionTable[name as OptionName].origin : 'operator';
  const prefix = origin === 'operator' ? 'CILIUM' : 'HEADWATER';
  return `${prefix}_${name.replaceAll('-', '_').toUpperCase()}`;
}
