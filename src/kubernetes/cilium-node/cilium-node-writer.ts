// Writes CiliumNodes with merge patches that hold only what changed, each bound to the state it was computed from. It
// returns the outcome as a value; the caller decides what follows.
import { ask, type ApiRefusal } from '../transport/api-reply.ts';
import { type JsonObject, textAt } from '../transport/json.ts';
import type { KubernetesTransport } from '../transport/transport.ts';

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

export const ciliumNodesPath = '/apis/cilium.io/v2/ciliumnodes';

/** A server names these fields when a patch is bound to another state. Such a patch is stale, not invalid. */
const bindingFields: readonly string[] = ['metadata.uid', 'metadata.resourceVersion'];

export class CiliumNodeWriter {
  readonly #transport: KubernetesTransport;
  readonly #leads: () => boolean;
  readonly #timeoutMs: number | undefined;

  /** `leads`: whether this process leads at this instant. Default: always. `timeoutMs`: time limit of a write. */
  constructor(transport: KubernetesTransport, leads: () => boolean = () => true, timeoutMs?: number) {
    this.#transport = transport;
    this.#leads = leads;
    this.#timeoutMs = timeoutMs;
  }

  /** Patches `spec`; a patch of the main resource never changes the status. Rejects only with the signal's reason. */
  patchSpec(target: WriteTarget, spec: JsonObject, signal: AbortSignal): Promise<WriteOutcome> {
    return this.#patch('ciliumnodes', target, { spec }, signal);
  }

  /** Patches `status` through its subresource, the only way to change it. Rejects only with the signal's reason. */
  patchStatus(target: WriteTarget, status: JsonObject, signal: AbortSignal): Promise<WriteOutcome> {
    return this.#patch('ciliumnodes/status', target, { status }, signal);
  }

  /** Deletes the object in just this state. Rejects only with the signal's reason. */
  async delete(
    { name, uid, resourceVersion }: WriteTarget,
    signal: AbortSignal,
  ): Promise<'deleted' | 'conflict' | 'failed'> {
    if (!this.#leads()) return 'failed';
    const preconditions = { uid, resourceVersion };
    const request = {
      method: 'DELETE',
      path: pathOf(name),
      contentType: 'application/json',
      body: JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions }),
      ...(this.#timeoutMs !== undefined && { timeoutMs: this.#timeoutMs }),
    } as const;
    const { kind } = await ask(this.#transport, request, signal);
    if (kind === 'ok' || kind === 'gone') return 'deleted';
    return kind === 'conflict' ? kind : 'failed';
  }

  /** Reads the live object, not the watched copy. Rejects only with the signal's reason. */
  async get(name: string, signal: AbortSignal): Promise<ReadOutcome> {
    const reply = await ask(this.#transport, { method: 'GET', path: pathOf(name) }, signal);
    return reply.kind === 'ok' ? { kind: 'found', raw: reply.object } : failure(reply, 'get ciliumnodes');
  }

  /**
   * The current resource version of the collection; writes with a lower one came before. Undefined when unavailable.
   * Rejects only with the signal's reason.
   */
  async collectionVersion(signal: AbortSignal): Promise<string | undefined> {
    const reply = await ask(this.#transport, { method: 'GET', path: `${ciliumNodesPath}?limit=1` }, signal);
    return reply.kind === 'ok' ? textAt(reply.object, 'metadata', 'resourceVersion') : undefined;
  }

  async #patch(
    resource: 'ciliumnodes' | 'ciliumnodes/status',
    { name, uid, resourceVersion }: WriteTarget,
    part: JsonObject,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    // A process that was frozen beyond its lease resumes where it stood, with stale state.
    if (!this.#leads()) return { kind: 'unavailable', message: 'another process may lead by now' };
    const request = {
      method: 'PATCH',
      path: resource === 'ciliumnodes' ? pathOf(name) : `${pathOf(name)}/status`,
      contentType: 'application/merge-patch+json',
      body: JSON.stringify({ metadata: { uid, resourceVersion }, ...part }),
      ...(this.#timeoutMs !== undefined && { timeoutMs: this.#timeoutMs }),
    } as const;
    const reply = await ask(this.#transport, request, signal);
    return reply.kind === 'ok' ? { kind: 'written', raw: reply.object } : failure(reply, `patch ${resource}`);
  }
}

function pathOf(name: string): string {
  return `${ciliumNodesPath}/${encodeURIComponent(name)}`;
}

function failure(refusal: ApiRefusal, attempted: string): WriteFailure {
  const { kind, message } = refusal;
  switch (kind) {
    case 'gone':
      return { kind };
    case 'conflict':
    case 'expired':
      return { kind: 'conflict', message };
    case 'denied':
      if (refusal.status === 401)
        return { kind: 'unavailable', message: `the API server refuses our credentials: ${message}` };
      return { kind, message: `allow Headwater to ${attempted} of cilium.io: ${message}` };
    case 'invalid':
      return { kind: isLate(refusal) ? 'conflict' : 'invalid', message };
    case 'unavailable': {
      const { retryAfterMs } = refusal;
      return { kind, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    }
  }
}

function isLate({ status, fields }: ApiRefusal & { readonly kind: 'invalid' }): boolean {
  return status === 422 && fields.some((field) => bindingFields.includes(field));
}
