// The outcome of a write of an object, or of a read of it before the next write.
import type { ApiRefusal } from './api-reply.ts';
import type { JsonObject } from '../../runtime/json.ts';

/** The state from which a patch was computed. */
export interface WriteTarget {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export type WriteOutcome =
  /** `raw` is the current object, possibly newer than what any watch delivered. */
  { readonly kind: 'written'; readonly raw: JsonObject } | WriteFailure;

export type ReadOutcome = { readonly kind: 'found'; readonly raw: JsonObject } | WriteFailure;

export type WriteFailure =
  /** The object is in another state: reread it and recompute. */
  | { readonly kind: 'conflict'; readonly message: string }
  /** The object does not exist. */
  | { readonly kind: 'gone' }
  /** We lack a permission, named in `message`: an administrator must grant it. */
  | { readonly kind: 'denied'; readonly message: string }
  /** The server never accepts this patch: a bug or another schema. */
  | { readonly kind: 'invalid'; readonly message: string }
  /** Retry later. The write may have taken effect. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly retryAfterMs?: number };

/** A process that was frozen beyond its lease resumes where it stood, with stale state. */
export const notLeading: WriteFailure = {
  kind: 'unavailable',
  message: 'another process may lead by now',
};

/** A server names these fields when a patch is bound to another state. Such a patch is stale, not invalid. */
const bindingFields: readonly string[] = ['metadata.uid', 'metadata.resourceVersion'];

/** `attempted`: verb and resource. `lateFields`: what else a server names when an object is in another state. */
export function writeFailure(
  refusal: ApiRefusal,
  attempted: string,
  lateFields: readonly string[],
): WriteFailure {
  const { kind, message } = refusal;
  switch (kind) {
    case 'gone':
      return { kind };
    case 'conflict':
    case 'expired':
      return { kind: 'conflict', message };
    case 'denied':
      return refusal.status === 401
        ? { kind: 'unavailable', message: `the API server refuses our credentials: ${message}` }
        : { kind, message: `allow Headwater to ${attempted}: ${message}` };
    case 'invalid':
      return { kind: isStale(refusal, lateFields) ? 'conflict' : 'invalid', message };
    case 'unavailable': {
      const { retryAfterMs } = refusal;
      return { kind, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    }
  }
}

/** Only 422 names fields of the object; with other statuses, the patch itself is invalid. */
function isStale(
  { status, fields }: Extract<ApiRefusal, { kind: 'invalid' }>,
  lateFields: readonly string[],
): boolean {
  return (
    status === 422 && fields.some((field) => bindingFields.includes(field) || lateFields.includes(field))
  );
}
