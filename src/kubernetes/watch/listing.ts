// Lists a whole collection page by page, in slices that do not block the event loop for long.
//
// Paging, and a 410 in the middle of it:
// https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
import { sleep } from '../../runtime/clock.ts';
import { ask, type ApiRefusal, type Reply } from '../transport/api-reply.ts';
import { isList, isObject, type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import { slowReadTimeout } from '../transport/transport.ts';
import type { Read } from './object-store.ts';
import { type Collection, pathOf } from './watch-stream.ts';

export interface ListingOptions<T> extends Collection {
  /** The part of an object to keep; undefined to keep nothing. */
  readonly read: (raw: JsonObject) => Read<T> | undefined;
  /** The kind that the server names in each page. Default: nothing is compared. */
  readonly listKind?: string;
}

export type Listing<T> =
  | {
      readonly kind: 'listed';
      readonly objects: ReadonlyMap<string, Read<T>>;
      readonly resourceVersion: string;
    }
  | ApiRefusal;

/** Maximum objects per page. */
const pageSize = 500;

/** Target size of a page's text. A page is parsed in one go, at roughly 5 ms/MB. */
const pageText = 1_000_000;

/** A longer page is requested again with a lower limit: objects of a megabyte each may follow small ones. */
const maxPage = 3_000_000;

/** The first page is small because it reveals the size of the objects. */
const firstPage = 50;

/** Divisor of the limit after a page that is too long. */
const smaller = 8;

/** Objects read before the event loop gets a turn. */
const batch = 20;

/** Paged attempts after expired continue tokens, before the list is requested unpaged. */
const pagedAttempts = 2;

/** The current collection, from a consistent read. Rejects only with the signal's reason. */
export async function listAll<T>(options: ListingOptions<T>, signal: AbortSignal): Promise<Listing<T>> {
  for (let attempt = 0; attempt < pagedAttempts; attempt++) {
    const listing = await listOnce(options, firstPage, signal);
    if (listing.kind !== 'expired') return listing;
  }
  return listOnce(options, undefined, signal);
}

/** The limit of the next page, after `objects` objects took `size` characters. */
function nextLimit(size: number, objects: number): number {
  if (objects === 0) return pageSize;
  return Math.max(1, Math.min(pageSize, Math.floor((pageText * objects) / size)));
}

async function listOnce<T>(
  options: ListingOptions<T>,
  firstLimit: number | undefined,
  signal: AbortSignal,
): Promise<Listing<T>> {
  const objects = new Map<string, Read<T>>();
  let limit = firstLimit;
  let token: string | undefined;
  let resourceVersion: string | undefined;
  do {
    const reply: Reply = await askForPage(options, limit, token, signal);
    if (reply.kind !== 'ok') return reply;
    const items = itemsOf(reply.object);
    const { listKind } = options;
    if (items === undefined || (listKind !== undefined && textAt(reply.object, 'kind') !== listKind))
      return { kind: 'unavailable', message: `${options.path} answered with what is no list of objects` };
    await readItems(options, items, objects, signal);
    resourceVersion ??= textAt(reply.object, 'metadata', 'resourceVersion');
    token = textAt(reply.object, 'metadata', 'continue');
    if (limit !== undefined) limit = nextLimit(reply.size, items.length);
  } while (token !== undefined && token !== '');
  if (resourceVersion === undefined) {
    return {
      kind: 'unavailable',
      message: `${options.path} answered with a list without a resource version`,
    };
  }
  return { kind: 'listed', objects, resourceVersion };
}

/**
 * The objects of a list, or of a page of one; undefined if the answer is none. A server may write null for no objects. What
 * lacks the member, or holds anything else, is of a proxy or spoiled: nothing follows from what it does not show.
 */
export function itemsOf(list: JsonObject): readonly JsonObject[] | undefined {
  const items = valueAt(list, 'items');
  if (items === null) return [];
  return isList(items) && items.every(isObject) ? items : undefined;
}

/** Requests a page, with a lower limit when the page is too long. */
async function askForPage<T>(
  options: ListingOptions<T>,
  limit: number | undefined,
  token: string | undefined,
  signal: AbortSignal,
): Promise<Reply> {
  const isLeast = limit === undefined || limit === 1;
  const path = pathOf(options, { limit: limit?.toString(), continue: token });
  const limits = {
    timeoutMs: slowReadTimeout,
    isCostly: true as const,
    ...(!isLeast && { maxBytes: maxPage }),
  };
  const request = { method: 'GET', path, ...limits } as const;
  const reply = await ask(options.transport, request, signal);
  if (isLeast || reply.kind !== 'unavailable' || reply.isTooLong !== true) return reply;
  return askForPage(options, Math.max(1, Math.floor(limit / smaller)), token, signal);
}

async function readItems<T>(
  { clock, read }: ListingOptions<T>,
  items: readonly JsonObject[],
  into: Map<string, Read<T>>,
  signal: AbortSignal,
): Promise<void> {
  for (const [index, item] of items.entries()) {
    const kept = read(item);
    if (kept !== undefined) into.set(kept.key, kept);
    if (index % batch === batch - 1) await sleep(clock, 0, signal);
  }
}
