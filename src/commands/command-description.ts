// Describes a command, so that the command line can be built without loading it.
import type { RawFlags } from '../config/raw-option.ts';
import { oneOf, type ValueKind } from '../config/value-kinds.ts';

export interface CommandDescription {
  readonly name: string;
  /** A line for the list of commands. */
  readonly summary: string;
  /** Opening text of its help. */
  readonly description: string;
  readonly flags: readonly FlagDescription[];
  /** A word that must follow the name of the command. It is passed under this name. */
  readonly argument?: { readonly name: string; readonly help: string };
  /** The flag whose values further words are, too. */
  readonly words?: { readonly of: string; readonly help: string };
  /** Runs the command with the given flags and resolves to the exit code. It imports its own dependencies. */
  readonly run: (given: RawFlags) => Promise<number>;
}

export interface FlagDescription {
  /** The name without dashes. */
  readonly name: string;
  /** Undefined for a switch, which is given as the text "true". */
  readonly value?: FlagValue;
  /** Heading of the flag in the help. Default: Options. */
  readonly group?: string;
  readonly help: string;
  /** Sentences below the flag in the help: accepted values, default. */
  readonly notes: readonly string[];
}

/** A flag with a value. `otherwise`: the value without the flag. */
export function flagOf(
  name: string,
  kind: Pick<ValueKind<unknown>, 'accepts' | 'bare' | 'placeholder'>,
  { help, otherwise }: { readonly help: string; readonly otherwise?: string },
): FlagDescription {
  const { accepts, bare, placeholder } = kind;
  const notes = [`Accepted: ${accepts}`, ...(otherwise === undefined ? [] : [`Default: ${otherwise}.`])];
  return { name, value: { placeholder, ...(bare !== undefined && { bare }) }, help, notes };
}

/** A flag whose values are not read as any kind. */
export function textFlag(
  name: string,
  placeholder: string,
  { help, notes = [] }: { readonly help: string; readonly notes?: readonly string[] },
): FlagDescription {
  return { name, value: { placeholder }, help, notes };
}

export function switchFlag(name: string, help: string, notes: readonly string[] = []): FlagDescription {
  return { name, help, notes };
}

export const outputKind = { ...oneOf(['text', 'json']), placeholder: 'format' };

/** Flags under one heading. */
export function flagsUnder(group: string, flags: readonly FlagDescription[]): readonly FlagDescription[] {
  return flags.map((flag) => ({ ...flag, group }));
}

export interface FlagValue {
  /** Stands for the value in the help. */
  readonly placeholder: string;
  /** The text that the bare flag means. Without it, a value is required. */
  readonly bare?: string;
}
