// Pages of results with links to the next one.
import type { Moment } from '../cloud/timeline.ts';
import type { JsonObject } from '../workload/json.ts';
import { answer, type ArmAnswer, type ArmCall, type ArmContext } from './arm-call.ts';
import { badRequest } from './arm-refusal.ts';

const tokenParameter = '$skiptoken';

/** One page of what is under `prefix`, ordered by key. */
export function listPage<T extends { readonly id: string }>(
  call: ArmCall,
  context: ArmContext,
  listing: {
    readonly moment: Moment<T>;
    readonly prefix: string;
    readonly fits?: (record: T) => boolean;
    readonly render: (record: T) => JsonObject;
  },
): ArmAnswer {
  const key = `${call.name} ${call.path.toLowerCase()}`;
  const token = call.query.get(tokenParameter);
  const cursor = token === null ? listing.prefix : context.pages.read(key, token);
  if (cursor === undefined) throw badRequest('InvalidSkipToken', 'The skip token is not valid.');
  const size = pageSize(context);
  const found: T[] = [];
  let hasMore = false;
  for (const record of listing.moment.after(cursor)) {
    if (!record.id.startsWith(listing.prefix)) break;
    if (listing.fits?.(record) === false) continue;
    if (found.length === size) {
      hasMore = true;
      break;
    }
    found.push(record);
  }
  const last = found.at(-1);
  return answer({
    value: found.map(listing.render),
    ...(hasMore && last !== undefined && { nextLink: linkTo(call, context.pages.issue(key, last.id)) }),
  });
}

/** A page may be cut short although more follows; then it has a link. */
function pageSize({ cloud, random, shortPages }: ArmContext): number {
  return shortPages > 0 && random.chance(shortPages) ? 1 + random.integer(cloud.pageSize) : cloud.pageSize;
}

function linkTo({ origin, path, query }: ArmCall, token: string): string {
  const next = new URLSearchParams(query);
  next.set(tokenParameter, token);
  return `${origin}${path}?${next.toString()}`;
}

/** Records that never change, as a listing reads them. */
export function momentOf<T extends { readonly id: string }>(records: ReadonlyMap<string, T>): Moment<T> {
  return {
    get: (id) => records.get(id),
    after: (cursor) =>
      [...records.values()].filter(({ id }) => id > cursor).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}
