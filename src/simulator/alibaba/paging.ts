// Pages of listings: by number with a total count, or by token.
import type { Moment } from '../cloud/timeline.ts';
import type { JsonObject } from '../workload/json.ts';
import { integer, text } from './parameters.ts';
import type { RpcContext } from './rpc-action.ts';
import { conflictingParameters, RpcRefusal } from './rpc-refusal.ts';

/** Parameters of listings that are paged by number. */
export const numbered = (max: number) =>
  ({ PageNumber: integer(1, 1_000_000), PageSize: integer(1, max) }) as const;

/** Parameters of listings that are paged by token. */
export const tokened = (max: number) => ({ MaxResults: integer(1, max), NextToken: text }) as const;

export interface PageRequest {
  readonly PageNumber?: number | undefined;
  readonly PageSize?: number | undefined;
  readonly MaxResults?: number | undefined;
  readonly NextToken?: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** The members of the answer about the page. */
  readonly about: JsonObject;
}

/** Records of ECS pages by default (https://help.aliyun.com/document_detail/25598.html). */
const usualSize = 10;

/** One page of the records that fit, in the order of their ids. */
export function pageOf<T extends { readonly id: string }>(
  input: PageRequest & Readonly<Record<string, unknown>>,
  context: RpcContext,
  listing: {
    readonly name: string;
    readonly moment: Pick<Moment<T>, 'after'>;
    readonly fits: (record: T) => boolean;
  },
): Page<T> {
  const { PageNumber, PageSize, MaxResults, NextToken } = input;
  const isTokened = MaxResults !== undefined || NextToken !== undefined;
  if (isTokened && PageNumber !== undefined) {
    throw conflictingParameters('PageNumber and MaxResults or NextToken exclude each other.');
  }
  if (isTokened) return tokenPage(input, context, listing);
  const size = PageSize ?? usualSize;
  const number = PageNumber ?? 1;
  const fitting = [...listing.moment.after('')].filter(listing.fits);
  return {
    items: fitting.slice((number - 1) * size, number * size),
    about: { PageNumber: number, PageSize: size, TotalCount: fitting.length, NextToken: '' },
  };
}

function tokenPage<T extends { readonly id: string }>(
  input: PageRequest & Readonly<Record<string, unknown>>,
  { pageTokens, random, shortPages }: RpcContext,
  { name, moment, fits }: Parameters<typeof pageOf<T>>[2],
): Page<T> {
  const { NextToken, MaxResults = usualSize, PageSize: _, ...asked } = input;
  const key = `${name} ${JSON.stringify(asked)}`;
  const cursor = NextToken === undefined ? '' : pageTokens.read(key, NextToken);
  if (cursor === undefined) throw new RpcRefusal('InvalidNextToken', 'The specified NextToken is not valid.');
  const size = shortPages > 0 && random.chance(shortPages) ? 1 + random.integer(MaxResults) : MaxResults;
  const items: T[] = [];
  for (const record of moment.after(cursor)) {
    if (!fits(record)) continue;
    const last = items.at(-1);
    if (items.length === size && last !== undefined) {
      return { items, about: { NextToken: pageTokens.issue(key, last.id) } };
    }
    items.push(record);
  }
  return { items, about: { NextToken: '' } };
}

/** Records that never change, or are read whole, as a listing sees them. */
export function ordered<T extends { readonly id: string }>(records: Iterable<T>): Pick<Moment<T>, 'after'> {
  const sorted = [...records].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return { after: (cursor) => sorted.filter(({ id }) => id > cursor) };
}
