// What a command tells about itself, so that the command line can be built without loading it.
import type { GivenFlags } from '../config/given-text.ts';

export interface CommandDescription {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What its help begins with. */
  readonly description: string;
  readonly flags: readonly FlagDescription[];
  /** Does it, with the flags that were given, and resolves to the exit code. It loads whatever it needs by itself. */
  readonly run: (given: GivenFlags) => Promise<number>;
}

export interface FlagDescription {
  /** Without dashes. */
  readonly name: string;
  /** Undefined for a mere switch, which then is given as the text "true". */
  readonly value?: FlagValue;
  /** Heading under which the help shows it. */
  readonly group: string;
  readonly help: string;
  /** Sentences that the help shows below: what is accepted, the default. */
  readonly notes: readonly string[];
}

export interface FlagValue {
  /** What stands for the value in the help. */
  readonly placeholder: string;
  /** The text that the flag alone means; without it a value is needed. */
  readonly bare?: string;
}
