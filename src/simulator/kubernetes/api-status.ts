// Builds every refusal of the API server as a Status object with the server's own texts. Thrown anywhere
// below a request and converted to an answer in one place; no code in between handles one.
// https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.32/#status-v1-meta
import { type FieldError, joinedFieldErrors } from './field-error.ts';
import { quoted } from './go-text.ts';
import { definedFields, type JsonObject, type JsonValue } from './json-value.ts';

export interface StatusCause extends JsonObject {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails extends JsonObject {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface ApiStatus extends JsonObject {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly status: 'Failure' | 'Success';
}

/** A group with a resource or kind in it, for messages. */
export interface GroupName {
  readonly group: string;
  readonly name: string;
}

export class StatusError extends Error {
  readonly code: number;
  readonly status: ApiStatus;
  readonly retryAfterSeconds: number | undefined;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'StatusError';
    this.code = failure.code;
    this.retryAfterSeconds = failure.details?.retryAfterSeconds;
    this.status = failureStatus(failure);
  }
}

export interface Failure {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: StatusDetails;
  /** Metadata of a list, for a failed list that still returns a continue token. */
  readonly metadata?: JsonObject;
}

export function failureStatus(failure: Failure): ApiStatus {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: failure.metadata ?? {},
    status: 'Failure',
    message: failure.message,
    ...definedFields({ reason: failure.reason, details: failure.details }),
    code: failure.code,
  };
}

export function successStatus(details: StatusDetails): ApiStatus {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

/** `pods`, `ciliumnodes.cilium.io`. */
export function qualified({ group, name }: GroupName): string {
  return group === '' ? name : `${name}.${group}`;
}

function detailsOf(
  type: GroupName,
  name: string,
  more: Readonly<Record<string, JsonValue>> = {},
): StatusDetails {
  const named = name === '' ? {} : { name };
  const grouped = type.group === '' ? {} : { group: type.group };
  return { ...named, ...grouped, kind: type.name, ...more };
}

export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: 'BadRequest', message });
}

export function unauthorized(): StatusError {
  return new StatusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
}

export function forbidden(resource: GroupName, name: string, because: string): StatusError {
  const subject = name === '' ? qualified(resource) : `${qualified(resource)} ${quoted(name)}`;
  const message = `${subject} is forbidden: ${because}`;
  return new StatusError({ code: 403, reason: 'Forbidden', message, details: detailsOf(resource, name) });
}

export function namespaceTerminating(resource: GroupName, name: string, namespace: string): StatusError {
  const because = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  return new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: `${qualified(resource)} ${quoted(name)} is forbidden: ${because}`,
    details: detailsOf(resource, name, { causes: [cause] }),
  });
}

export function notFound(resource: GroupName, name: string): StatusError {
  return new StatusError({
    code: 404,
    reason: 'NotFound',
    message: `${qualified(resource)} ${quoted(name)} not found`,
    details: detailsOf(resource, name),
  });
}

export function noSuchResource(): StatusError {
  const message = 'the server could not find the requested resource';
  return new StatusError({ code: 404, reason: 'NotFound', message, details: {} });
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return new StatusError({ code: 405, reason: 'MethodNotAllowed', message, details: {} });
}

export function verbNotSupported(resource: GroupName, verb: string): StatusError {
  return new StatusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: `${verb} is not supported on resources of kind ${quoted(qualified(resource))}`,
    details: detailsOf(resource, ''),
  });
}

export function notAcceptable(message: string): StatusError {
  return new StatusError({ code: 406, reason: 'NotAcceptable', message });
}

export function alreadyExists(resource: GroupName, name: string): StatusError {
  return new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${qualified(resource)} ${quoted(name)} already exists`,
    details: detailsOf(resource, name),
  });
}

/** For a name that the server generated. */
export function generatedNameExists(resource: GroupName, name: string): StatusError {
  const because = 'already exists, the server was not able to generate a unique name for the object';
  return new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${qualified(resource)} ${quoted(name)} ${because}`,
    details: detailsOf(resource, name, { retryAfterSeconds: 1 }),
  });
}

export function conflict(type: GroupName, name: string, because: string): StatusError {
  return new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualified(type)} ${quoted(name)}: ${because}`,
    details: detailsOf(type, name),
  });
}

/** For a list or watch from a version that is no longer in the history. */
export function expired(message: string, metadata: JsonObject = {}): StatusError {
  return new StatusError({ code: 410, reason: 'Expired', message, metadata });
}

export function entityTooLarge(limit: number): StatusError {
  const message = `Request entity too large: limit is ${limit}`;
  return new StatusError({ code: 413, reason: 'RequestEntityTooLarge', message });
}

export function unsupportedMediaType(message: string, details?: StatusDetails): StatusError {
  const failure = { code: 415, reason: 'UnsupportedMediaType', message };
  return new StatusError(details === undefined ? failure : { ...failure, details });
}

/** `kind` is the kind, or the resource if the storage refuses. */
export function invalidObject(kind: GroupName, name: string, errors: readonly FieldError[]): StatusError {
  const causes = errors.map(({ reason, message, field }): StatusCause => ({ reason, message, field }));
  const details = detailsOf(kind, name, { causes });
  return new StatusError({
    code: 422,
    reason: 'Invalid',
    message: `${qualified(kind)} ${quoted(name)} is invalid: ${joinedFieldErrors(errors)}`,
    details: kind.name === '' ? { causes } : details,
  });
}

/** For a resource version that the server has not reached. */
export function versionTooLarge(wanted: number, current: number): StatusError {
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${wanted}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

export function internalError(because: string): StatusError {
  return new StatusError({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${because}`,
    details: { causes: [{ message: because }] },
  });
}

/** An error that the server passes on unchanged: no reason, no details. */
export function unclassifiedError(message: string): StatusError {
  return new StatusError({ code: 500, message });
}
