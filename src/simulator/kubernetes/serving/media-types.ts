// Negotiates the forms of answers and requests. Only JSON is supported; refusals list what the real server
// supports, so clients read the same text.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
import { notAcceptable, StatusError, unsupportedMediaType } from '../api-status.ts';

export type Representation = 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'Table' | 'object';

const spoken = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

interface AcceptClause {
  readonly mediaType: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

/** The clauses of an Accept header, most preferred first. */
export function acceptClauses(header: string): readonly AcceptClause[] {
  return header
    .split(',')
    .map(acceptClause)
    .toSorted((left, right) => right.quality - left.quality);
}

function acceptClause(text: string): AcceptClause {
  const [mediaType = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters: Record<string, string> = {};
  for (const part of rest) {
    const [name = '', value = ''] = part.split('=', 2);
    parameters[name.trim()] = value.trim();
  }
  return { mediaType, parameters, quality: Number(parameters['q'] ?? 1) };
}

export function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType === 'application/*' || mediaType === '*/*';
}

export interface Negotiable {
  readonly custom: boolean;
  /** Tables are not available for a watch that starts with a list. */
  readonly tables: boolean;
}

/** The form of the answer; throws `StatusError` if the client accepts none that is available. */
export function representationFor(
  accept: string | undefined,
  { custom, tables }: Negotiable,
): Representation {
  if (accept === undefined || accept === '' || accept === 'application/json') return 'object';
  const clauses = acceptClauses(accept).filter(({ mediaType }) => isJsonType(mediaType));
  if (clauses.length === 0 && !custom) throw nothingAcceptable();
  for (const { parameters } of clauses) {
    const wanted = representationOf(parameters);
    if (wanted !== undefined && (tables || wanted !== 'Table')) return wanted;
  }
  throw notAcceptable(`only the following media types are accepted: ${spoken.join(', ')}`);
}

/** The router of built-in resources refuses with its own text. */
function nothingAcceptable(): Error {
  const streams = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
  const message = `406: Not Acceptable\n\nAvailable representations: ${[...spoken, ...streams].join(', ')}`;
  return new StatusError({ code: 406, reason: 'NotAcceptable', message, details: {} });
}

function representationOf(parameters: Readonly<Record<string, string>>): Representation | undefined {
  const { as, g = '', v = '' } = parameters;
  if (as === undefined) return 'object';
  const known = g === 'meta.k8s.io' && (v === 'v1' || v === 'v1beta1');
  if (!known) return undefined;
  return as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList'
    ? as
    : undefined;
}

/** The media type of a body, without parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim() ?? '';
}

/** Refuses a body that is not JSON; one without a type counts as JSON. */
export function checkJsonBody(contentType: string | undefined): void {
  const mediaType = mediaTypeOf(contentType);
  if (mediaType === '' || isJsonType(mediaType)) return;
  throw unsupportedMediaType(unknownFormat(spoken));
}

export function unknownFormat(accepted: readonly string[]): string {
  return `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
}
