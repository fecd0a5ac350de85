// The options that all reads of EC2 share, and how they filter.
import type { CallContext } from '../contract/cloud.ts';
import type { Tolerance } from '../reading/plausible.ts';
import type { Filter } from './ec2-api.ts';
import type { Ec2Client } from './ec2-client.ts';

/** The most filter values that one request may have in total. */
export const maxFilterValues = 200;

export interface ReadOptions {
  /** Results per page, 5 to 1000. */
  readonly pageSize: number;
  /** Tags that an instance must carry to be served. */
  readonly instanceTags: Readonly<Record<string, string>>;
  /** Restrict the subnets of new interfaces. */
  readonly subnetIds: readonly string[];
  readonly subnetTags: Readonly<Record<string, string>>;
  readonly tolerance: Tolerance;
  /** The zones that nodes name. If all zones cannot be read together, each is read alone. */
  readonly zones?: readonly string[];
}

/** The client, the options and the context of a read. */
export interface Reading {
  readonly client: Ec2Client;
  readonly options: ReadOptions;
  readonly context: CallContext;
}

/** Matches what carries all of these tags. EC2 takes `*` and `?` in a value for any characters. */
export function filtersOf(tags: Readonly<Record<string, string>>): Filter[] {
  return Object.entries(tags).map(([key, value]) => ({ Name: `tag:${key}`, Values: [value] }));
}

/** Matches what carries exactly these tags. */
export function literalFiltersOf(tags: Readonly<Record<string, string>>): Filter[] {
  const escaped = (value: string): string => value.replaceAll(/[\\*?]/g, String.raw`\$&`);
  return filtersOf(tags).map(({ Name, Values }) => ({ Name, Values: Values.map(escaped) }));
}
