// Reads a whole collection page by page, in pieces small enough that nothing else waits long for the event loop.
//
// Paging, and what a 410 in the middle of it means:
// https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
import { type Clock, sleep } from '../scheduling/clock.ts';
import { ask, type Refusal } from './api-reply.ts';
import { isList, isObject, type Json, type JsonObject, textAt, valueAt } from './json.ts';
import type { Read } from './object-store.ts';
import type { KubernetesTransport } from './transport.ts';

export interface ListingOptions<T> {
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
  /** Of the collection, without a query. */
  readonly path: string;
  readonly fieldSelector?: string | undefined;
  /** No page has more objects. */
  readonly pageSize: number;
  /** What is kept of an object; undefined when there is nothing to keep. */
  readonly read: (raw: JsonObject) => Read<T> | undefined;
}

export type Listing<T> =
  | {
      readonly kind: 'listed';
      readonly objects: ReadonlyMap<string, Read<T>>;
      readonly resourceVersion: string;
    }
  | Refusal;

/** A page's text is meant to stay below this: it is parsed in one go, at roughly 5 ms a MB. */
const pageText = 1_000_000;

/** The first page is small: it tells how large the objects are. */
const firstPage = 50;

/** So many objects are read before others get a turn. */
const batch = 20;

/** How often a list whose continue token expired is begun anew in pages before it is asked for in one piece. */
const pagedAttempts = 2;

/** The collection as it is now, from a consistent read. Rejects only with the signal's reason. */
export async function listAll<T>(options: ListingOptions<T>, signal: AbortSignal): Promise<Listing<T>> {
  for (let attempt = 0; attempt < pagedAttempts; attempt++) {
    const listing = await listOnce(options, firstPage, signal);
    if (listing.kind !== 'expired') return listing;
  }
  return listOnce(options, undefined, signal);
}

/** How many objects the next page should have, after `objects` took `size` characters. */
export function nextLimit(pageSize: number, size: number, objects: number): number {
  if (objects === 0) return pageSize;
  return Math.max(1, Math.min(pageSize, Math.floor((pageText * objects) / size)));
}

async function listOnce<T>(
  options: ListingOptions<T>,
  firstLimit: number | undefined,
  signal: AbortSignal,
): Promise<Listing<T>> {
  const objects = new Map<string, Read<T>>();
  let limit = firstLimit === undefined ? undefined : Math.min(firstLimit, options.pageSize);
  let token: string | undefined;
  let resourceVersion: string | undefined;
  do {
    const request = { method: 'GET', path: pagePath(options, limit, token) } as const;
    const reply = await ask(options.transport, request, signal);
    if (reply.kind !== 'ok') return reply;
    const items = valueAt(reply.object, 'items') ?? [];
    if (!isList(items))
      return { kind: 'unavailable', message: `${options.path} answered with what is no list` };
    await readItems(options, items, objects, signal);
    resourceVersion ??= textAt(reply.object, 'metadata', 'resourceVersion');
    token = textAt(reply.object, 'metadata', 'continue');
    if (limit !== undefined) limit = nextLimit(options.pageSize, reply.size, items.length);
  } while (token !== undefined && token !== '');
  if (resourceVersion === undefined) {
    return {
      kind: 'unavailable',
      message: `${options.path} answered with a list without a resource version`,
    };
  }
  return { kind: 'listed', objects, resourceVersion };
}

async function readItems<T>(
  { clock, read }: ListingOptions<T>,
  items: readonly Json[],
  into: Map<string, Read<T>>,
  signal: AbortSignal,
): Promise<void> {
  for (const [index, item] of items.entries()) {
    const kept = isObject(item) ? read(item) : undefined;
    if (kept !== undefined) into.set(kept.key, kept);
    if (index % batch === batch - 1) await sleep(clock, 0, signal);
  }
}

function pagePath<T>(
  options: ListingOptions<T>,
  limit: number | undefined,
  token: string | undefined,
): string {
  const query = new URLSearchParams();
  if (options.fieldSelector !== undefined) query.set('fieldSelector', options.fieldSelector);
  if (limit !== undefined) query.set('limit', String(limit));
  if (token !== undefined) query.set('continue', token);
  const text = query.toString();
  return text === '' ? options.path : `${options.path}?${text}`;
}
