// Reads a list from EC2 page by page to its end, with the options that all reads share.
import type { CallContext } from '../contract/cloud.ts';
import { unreadable } from '../contract/cloud-failure.ts';
import type { Tolerance } from '../reading/plausible.ts';
import type { Ec2Input, Ec2Output, Filter } from './ec2-api.ts';
import type { Ec2Client, ReadAction } from './ec2-client.ts';

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

type ListMember<A extends ReadAction> = Exclude<keyof Ec2Output<A>, 'NextToken'>;
type Item<A extends ReadAction> =
  NonNullable<Ec2Output<A>[ListMember<A>]> extends readonly (infer T)[] ? T : never;

/** Reads all pages of a list. `startedAt` is when the first page was requested, in monotonic ms. */
export async function readList<A extends ReadAction>(
  { client, context }: Pick<Reading, 'client' | 'context'>,
  action: A,
  member: ListMember<A>,
  input: Ec2Input<A>,
): Promise<{ startedAt: number; items: Item<A>[] }> {
  const items: Item<A>[] = [];
  let firstStartedAt: number | undefined;
  for await (const { startedAt, output } of client.pages(action, input, context)) {
    firstStartedAt ??= startedAt;
    items.push(...listed(action, output, member));
  }
  return { startedAt: firstStartedAt ?? 0, items };
}

/** The list that an answer must have. Without it the answer is an error: it never means "there are none". */
export function listed<A extends ReadAction>(
  action: A,
  output: Ec2Output<A>,
  member: ListMember<A>,
): Item<A>[] {
  const list: unknown = output[member];
  if (!Array.isArray(list)) throw unreadable(action, `the answer has no ${String(member)}`);
  return list as Item<A>[];
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
