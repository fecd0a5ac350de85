// Parses and validates the query of a list or watch as the server does.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
import { badRequest, invalidObject } from '../api-status.ts';
import { type FieldError, forbiddenField, notSupported } from '../field-error.ts';
import { quoted } from '../go-text.ts';

export interface ListOptions {
  readonly watch: boolean;
  /** 0 for all. */
  readonly limit: number;
  readonly continueToken: string;
  readonly resourceVersion: string;
  readonly match: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** Seconds; undefined if the server decides. */
  readonly timeoutSeconds: number | undefined;
  readonly bookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/** Throws `StatusError` for invalid parameters or combinations. */
export function listOptionsOf(query: URLSearchParams): ListOptions {
  const textOf = (name: string): string => query.get(name) ?? '';
  const options: ListOptions = {
    watch: flagOf(query, 'watch') === true,
    limit: Math.max(0, integerOf(query, 'limit') ?? 0),
    continueToken: textOf('continue'),
    resourceVersion: textOf('resourceVersion'),
    match: textOf('resourceVersionMatch'),
    labelSelector: textOf('labelSelector'),
    fieldSelector: textOf('fieldSelector'),
    timeoutSeconds: integerOf(query, 'timeoutSeconds'),
    bookmarks: flagOf(query, 'allowWatchBookmarks') === true,
    sendInitialEvents: flagOf(query, 'sendInitialEvents'),
  };
  const effective = options.watch ? withInitialEvents(options) : options;
  const errors = effective.watch ? watchErrors(effective) : listErrors(effective);
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', name: 'ListOptions' }, '', errors);
  return effective;
}

/** Any value except `0` and `false` means true, even an empty one. */
export function flagOf(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  return value === null ? undefined : value !== '0' && value.toLowerCase() !== 'false';
}

function integerOf(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^[+-]?\d+$/.test(value))
    throw badRequest(`strconv.ParseInt: parsing ${quoted(value)}: invalid syntax`);
  return Number(value);
}

/** A watch without a definite version starts with the existing objects, requested or not. */
function withInitialEvents(options: ListOptions): ListOptions {
  const anyVersion = options.resourceVersion === '' || options.resourceVersion === '0';
  if (!anyVersion || options.sendInitialEvents !== undefined || options.match !== '') return options;
  return { ...options, sendInitialEvents: true, match: 'NotOlderThan' };
}

const matchField = 'resourceVersionMatch';

function listErrors({
  match,
  resourceVersion,
  continueToken,
  sendInitialEvents,
}: ListOptions): readonly FieldError[] {
  const errors: FieldError[] = [];
  const forbid = (reason: string): number =>
    errors.push(forbiddenField(matchField, `${matchField} ${reason}`));
  if (match !== '') {
    if (resourceVersion === '') forbid('is forbidden unless resourceVersion is provided');
    if (continueToken !== '') forbid('is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(notSupported(matchField, match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && resourceVersion === '0') forbid('"exact" is forbidden for resourceVersion "0"');
  }
  if (sendInitialEvents !== undefined) {
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

function watchErrors({ match, continueToken, sendInitialEvents }: ListOptions): readonly FieldError[] {
  const errors: FieldError[] = [];
  const forbid = (reason: string): number => errors.push(forbiddenField(matchField, reason));
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    forbid('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (match === '') return errors;
  if (sendInitialEvents === undefined) {
    forbid('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  }
  if (match !== 'NotOlderThan') errors.push(notSupported(matchField, match, ['NotOlderThan']));
  if (continueToken !== '') forbid('resourceVersionMatch is forbidden when continue is provided');
  return errors;
}
