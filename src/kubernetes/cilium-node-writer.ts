// Writes CiliumNodes: merge patches that hold only what changed, each bound to the state it was computed from. What became
// of a write is a value; deciding what to do then is the caller's.
import { ask, type Refusal } from './api-reply.ts';
import { type JsonObject, textAt } from './json.ts';
import type { KubernetesTransport } from './transport.ts';

/** The state that a patch was computed from. */
export interface WriteTarget {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export type WriteOutcome =
  /** `raw` is the object as it is now: newer than what any watch has said, perhaps. */
  { readonly kind: 'written'; readonly raw: JsonObject } | WriteFailure;

export type ReadOutcome = { readonly kind: 'found'; readonly raw: JsonObject } | WriteFailure;

export type WriteFailure =
  /** The object is not in that state any more: read it again, compute again. */
  | { readonly kind: 'conflict'; readonly message: string }
  /** There is no such object any more. */
  | { readonly kind: 'gone' }
  /** We may not; `message` says what, in words. Somebody must act. */
  | { readonly kind: 'denied'; readonly message: string }
  /** The server will never accept this. A bug, or a schema that says otherwise. */
  | { readonly kind: 'invalid'; readonly message: string }
  /** Another time. The write may have happened all the same. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly retryAfterMs?: number };

export const ciliumNodesPath = '/apis/cilium.io/v2/ciliumnodes';

/** A server names these when a patch was bound to another state: such a patch is late, not wrong. */
const bindingFields: readonly string[] = ['metadata.uid', 'metadata.resourceVersion'];

export class CiliumNodeWriter {
  readonly #transport: KubernetesTransport;
  readonly #leads: () => boolean;

  /** `leads`: whether this process leads at this very moment; without it, it always does. */
  constructor(transport: KubernetesTransport, leads: () => boolean = () => true) {
    this.#transport = transport;
    this.#leads = leads;
  }

  /** Patches `spec`; a patch of the main resource never touches the status. Rejects only with the signal's reason. */
  patchSpec(target: WriteTarget, spec: JsonObject, signal: AbortSignal): Promise<WriteOutcome> {
    return this.#patch('ciliumnodes', target, { spec }, signal);
  }

  /** Patches `status`, through the subresource that alone can. Rejects only with the signal's reason. */
  patchStatus(target: WriteTarget, status: JsonObject, signal: AbortSignal): Promise<WriteOutcome> {
    return this.#patch('ciliumnodes/status', target, { status }, signal);
  }

  /** Reads the object as it is now, not as a watch has it. Rejects only with the signal's reason. */
  async get(name: string, signal: AbortSignal): Promise<ReadOutcome> {
    const reply = await ask(this.#transport, { method: 'GET', path: pathOf(name) }, signal);
    return reply.kind === 'ok' ? { kind: 'found', raw: reply.object } : failure(reply, 'get ciliumnodes');
  }

  /**
   * The resource version that the collection has now: what has a lower one was written before. Undefined when that cannot
   * be had now. Rejects only with the signal's reason.
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
    // A process that was frozen for longer than its lease goes on where it stood: what it knows is of another time.
    if (!this.#leads()) return { kind: 'unavailable', message: 'another process may lead by now' };
    const request = {
      method: 'PATCH',
      path: resource === 'ciliumnodes' ? pathOf(name) : `${pathOf(name)}/status`,
      contentType: 'application/merge-patch+json',
      body: JSON.stringify({ metadata: { uid, resourceVersion }, ...part }),
    } as const;
    const reply = await ask(this.#transport, request, signal);
    return reply.kind === 'ok' ? { kind: 'written', raw: reply.object } : failure(reply, `patch ${resource}`);
  }
}

function pathOf(name: string): string {
  return `${ciliumNodesPath}/${encodeURIComponent(name)}`;
}

function failure(refusal: Refusal, attempted: string): WriteFailure {
  const { kind, message } = refusal;
  switch (kind) {
    case 'gone':
      return { kind };
    case 'conflict':
    case 'expired':
      return { kind: 'conflict', message };
    case 'denied':
      return { kind, message: `may not ${attempted} of cilium.io: ${message}` };
    case 'invalid':
      return { kind: isLate(refusal) ? 'conflict' : 'invalid', message };
    case 'unavailable': {
      const { retryAfterMs } = refusal;
      return { kind, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    }
  }
}

function isLate({ status, fields }: Refusal & { readonly kind: 'invalid' }): boolean {
  return status === 422 && fields.some((field) => bindingFields.includes(field));
}
