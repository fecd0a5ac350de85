// Types of a row in the option table. It holds no option.
import type { CloudMode } from './clouds/clouds.ts';
import type { ValueKind } from './value-kinds.ts';

/** Titles of the groups, in the order of help and documentation. */
export const optionGroups = {
  allocation: 'Allocation',
  release: 'Release',
  blocks: 'Blocks to nodes (ipam=cluster-pool, ipam=multi-pool)',
  aws: 'AWS',
  azure: 'Azure',
  alibaba: 'Alibaba Cloud',
  calls: 'Cloud calls',
  kubernetes: 'Kubernetes',
  election: 'Leader election',
  process: 'Configuration, serving and logging',
  nodeipam: 'Only for headwater nodeipam',
  agent: 'Only for headwater agent',
} as const;

export type OptionGroup = keyof typeof optionGroups;

export interface OptionRow<T = unknown> {
  readonly kind: ValueKind<T>;
  /**
   * Who defines the name. Options of cilium-operator keep their name and environment prefix, so that an existing
   * configuration still works.
   */
  readonly origin: 'operator' | 'headwater';
  readonly group: OptionGroup;
  /** The values of the option ipam that it belongs to; undefined for an option of every cloud. */
  readonly cloud?: CloudMode | readonly CloudMode[];
  /** A variable that cilium-operator reads as well: it counts if nothing else sets the option. */
  readonly legacyVariable?: string;
  /** Effect, unit, and when to change it. */
  readonly help: string;
  /** A text that `kind` parses. An option without a default may be unset; its value is then undefined. */
  readonly default?: string | FoundDefault;
  /** Texts that leave it unset in the program whose name it has, with what that means here. */
  readonly unsetBy?: Readonly<Record<string, string>>;
  /** False for options of a single process, which would be wrong in a shared ConfigMap. */
  readonly fromConfigDir: boolean;
  /** Reread at run time: a change in the directory takes effect without a restart. */
  readonly live?: true;
}

/** Members that all rows of a table have, unless they say otherwise. */
type CommonOfRows = Partial<Pick<OptionRow, 'origin' | 'group' | 'cloud' | 'fromConfigDir'>>;

interface InDirectory {
  readonly fromConfigDir: boolean;
}

/** Members that a row still has to say. */
type OwnOfRow<Common> = Omit<OptionRow, keyof Common | 'fromConfigDir'> & Partial<OptionRow>;

/** Rows with what they have in common. Unless that or a row says otherwise, an option may be in the directory. */
export function optionRows<
  const Common extends CommonOfRows,
  const Rows extends Readonly<Record<string, OwnOfRow<Common>>>,
>(
  common: Common,
  rows: Rows,
): { readonly [Name in keyof Rows]: Omit<InDirectory & Common, keyof Rows[Name]> & Rows[Name] } {
  const whole = Object.entries(rows).map(([name, row]) => [name, { fromConfigDir: true, ...common, ...row }]);
  // It has the names of the rows.
  return Object.fromEntries(whole) as never;
}

/** A default that depends on where the process runs. */
export interface FoundDefault {
  readonly words: string;
  find(processEnvironment: ProcessEnvironment): string;
}

/** The surroundings that configuration reads, as a value, so that tests can supply it. */
export interface ProcessEnvironment {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Text of a file. Throws what Node.js throws. */
  readFile(path: string): string;
  /** Names in a directory. Throws what Node.js throws. */
  readDirectory(path: string): readonly string[];
}
