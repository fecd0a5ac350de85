// The base of all Describe actions: listing by id or by page, filtered, from a lagging view.
import type { RecordKind, Records } from '../cloud/records.ts';
import type { ActionContext } from './action.ts';
import { Ec2Refusal, invalidParameterCombination, invalidParameterValue } from './ec2-refusal.ts';
import { compileFilters, type Filter, type FilterTable, filterShape, matchesEverything } from './filters.ts';
import { idNotFound } from './ids.ts';
import { integer, text } from './shape.ts';
import { type Sight, sightOf } from './sharing.ts';

/** Members of a paginated action. */
export const pageFields = {
  Filters: { ...filterShape, wire: 'Filter' },
  MaxResults: integer,
  NextToken: text,
} as const;

/** The differences between Describe actions. */
export interface Listing<K extends RecordKind> {
  readonly action: string;
  readonly kind: K;
  /** EC2's name of the ids parameter in messages. */
  readonly idParameter: string;
  readonly filters: FilterTable<Records[K]>;
  /** Filters that make an unpaginated listing acceptable in a large account. */
  readonly narrowing?: readonly string[];
  /** For a filter value, the only ids that can match. */
  readonly index?: Readonly<Record<string, (value: string, context: ActionContext) => readonly string[]>>;
  /** Maximum results per page; 1000 by default. */
  readonly max?: number;
}

export interface ListRequest {
  readonly ids: readonly string[];
  readonly filters: readonly Filter[];
  readonly maxResults: number | undefined;
  readonly nextToken: string | undefined;
}

export interface Page<T> {
  readonly records: readonly T[];
  readonly nextToken?: string;
}

const fewest = 5;
const defaultMax = 1000;

/** The parameters of a listing, whatever the name of its ids. */
export function listRequest(
  ids: readonly string[] | undefined,
  input: {
    readonly Filters?: readonly Filter[] | undefined;
    readonly MaxResults?: number | undefined;
    readonly NextToken?: string | undefined;
  },
): ListRequest {
  const nextToken = input.NextToken === '' ? undefined : input.NextToken;
  return { ids: ids ?? [], filters: input.Filters ?? [], maxResults: input.MaxResults, nextToken };
}

/** The requested records: those of the ids, or the next page. Refuses what EC2 refuses. */
export function listRecords<K extends RecordKind>(
  listing: Listing<K>,
  request: ListRequest,
  context: ActionContext,
): Page<Records[K]> {
  refuseCombination(listing, request);
  refuseUnpaginated(listing, request, context);
  const fits = compileFilters(request.filters, listing.filters);
  const moment = context.view(listing.kind);
  const see = sightOf(listing.kind, context);
  const only = request.ids.length > 0 ? request.ids : indexed(listing, request, context);
  if (only !== undefined) {
    const found = only.map(
      (id) => seen(moment.get(id), see) ?? (request.ids.length > 0 ? missing(listing.kind, id) : undefined),
    );
    const records = found.filter((record): record is Records[K] => record !== undefined);
    return { records: records.filter((record) => fits(record, context.view)) };
  }
  const after = (cursor: string): Iterable<Records[K]> => allSeen(moment.after(cursor), see);
  return turnPage(
    { action: listing.action, after, fits: (one) => fits(one, context.view) },
    request,
    context,
  );
}

function seen<T>(record: T | undefined, see: Sight<T>): T | undefined {
  return record === undefined || see === 'everything' ? record : see(record);
}

function* allSeen<T>(records: Iterable<T>, see: Sight<T>): Iterable<T> {
  for (const record of records) {
    const shown = seen(record, see);
    if (shown !== undefined) yield shown;
  }
}

/** The next page, ordered by id. */
export function turnPage<T extends { readonly id: string }>(
  listing: {
    readonly action: string;
    readonly after: (cursor: string) => Iterable<T>;
    readonly fits: (record: T) => boolean;
  },
  request: ListRequest,
  context: ActionContext,
): Page<T> {
  const key = JSON.stringify([listing.action, request.filters]);
  const { nextToken } = request;
  const cursor = nextToken === undefined ? '' : context.pageTokens.read(key, nextToken);
  if (cursor === undefined) throw invalidParameterValue('Unable to parse pagination token');
  const { records, more } = collect(listing.after(cursor), listing.fits, lengthOf(request, context));
  const last = records.at(-1);
  return more && last !== undefined
    ? { records, nextToken: context.pageTokens.issue(key, last.id) }
    : { records };
}

/** Refuses ids with pages, and page sizes outside the limits. */
export function refuseCombination(
  { idParameter, max = defaultMax }: Pick<Listing<RecordKind>, 'idParameter' | 'max'>,
  { ids, maxResults, nextToken }: ListRequest,
): void {
  const exclusive = maxResults === undefined ? 'nextToken' : 'maxResults';
  if (ids.length > 0 && (maxResults !== undefined || nextToken !== undefined)) {
    throw invalidParameterCombination(
      `The parameter ${idParameter} cannot be used with the parameter ${exclusive}`,
    );
  }
  if (maxResults !== undefined && maxResults < fewest) {
    throw invalidParameterValue(
      `Value ( ${maxResults} ) for parameter maxResults is invalid. Expecting a value greater than ${fewest}.`,
    );
  }
  if (maxResults !== undefined && maxResults > max) {
    throw invalidParameterValue(
      `Value ( ${maxResults} ) for parameter maxResults is invalid. Expecting a value less than ${max}.`,
    );
  }
}

/**
 * With many interfaces the operation fails without pagination or certain filters
 * (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeNetworkInterfaces.html).
 */
function refuseUnpaginated(
  { action, narrowing = [] }: Pick<Listing<RecordKind>, 'action' | 'narrowing'>,
  { ids, filters, maxResults, nextToken }: ListRequest,
  context: ActionContext,
): void {
  if (!context.refuseUnpaginated || ids.length > 0 || maxResults !== undefined || nextToken !== undefined)
    return;
  const narrow = filters.some(
    ({ Name = '', Values = [] }) => narrowing.includes(Name) && !Values.some(matchesEverything),
  );
  if (narrow) return;
  throw new Ec2Refusal(
    'OperationNotPermitted',
    `${action} has to be called with pagination in this account.`,
  );
}

function indexed<K extends RecordKind>(
  listing: Listing<K>,
  { filters, nextToken, maxResults }: ListRequest,
  context: ActionContext,
): readonly string[] | undefined {
  if (nextToken !== undefined) return undefined;
  for (const { Name = '', Values = [] } of filters) {
    const look = listing.index?.[Name];
    if (look === undefined || Values.some((value) => /[*?\\]/.test(value))) continue;
    const ids = [...new Set(Values.flatMap((value) => look(value, context)))].toSorted();
    if (maxResults === undefined || ids.length <= maxResults) return ids;
  }
  return undefined;
}

function missing(kind: RecordKind, id: string): never {
  throw idNotFound(kind, id);
}

function collect<T>(
  records: Iterable<T>,
  fits: (record: T) => boolean,
  max: number,
): { readonly records: readonly T[]; readonly more: boolean } {
  const page: T[] = [];
  for (const record of records) {
    if (!fits(record)) continue;
    if (page.length === max) return { records: page, more: true };
    page.push(record);
  }
  return { records: page, more: false };
}

/** The length of a page: sometimes shorter than requested, as EC2 documents. */
function lengthOf({ maxResults }: ListRequest, { network, random }: ActionContext): number {
  if (maxResults === undefined) return Infinity;
  const { shortPages } = network.consistency;
  return shortPages > 0 && random.chance(shortPages) ? 1 + random.integer(maxResults) : maxResults;
}
