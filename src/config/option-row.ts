// What one row of the table of options says. It holds no option.
import type { ValueKind } from './value-kinds.ts';

/** Titles of the groups, in the order in which help and documentation show them. */
export const optionGroups = {
  supply: 'What is supplied',
  release: 'What is taken back',
  aws: 'AWS',
  calls: 'Cloud calls',
  kubernetes: 'Kubernetes',
  election: 'Leader election',
  process: 'Configuration, serving and logging',
} as const;

export type OptionGroup = keyof typeof optionGroups;

export interface OptionRow<T = unknown> {
  readonly kind: ValueKind<T>;
  /**
   * Whose name it is: those that cilium-operator knows keep its name and its environment prefix, so that an existing
   * configuration goes on working.
   */
  readonly origin: 'operator' | 'headwater';
  readonly group: OptionGroup;
  /** What it does, in which unit, and when to change it. */
  readonly help: string;
  /** A text that `kind` parses. An option without one may be unset, and then its value is undefined. */
  readonly default?: string | FoundDefault;
  /** False for what belongs to one process and would be wrong in a ConfigMap shared with another. */
  readonly fromConfigDir: boolean;
  /** Read again while the process runs: a change in the directory takes effect without a restart. */
  readonly live?: true;
}

/** A default that depends on where the process runs. */
export interface FoundDefault {
  readonly words: string;
  find(surroundings: Surroundings): string;
}

/** What configuration reads from outside. Given as a value, so that a test can make it up. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Text of a file. Throws what Node.js throws. */
  readFile(path: string): string;
  /** Names in a directory. Throws what Node.js throws. */
  readDirectory(path: string): readonly string[];
}
