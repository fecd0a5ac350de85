// Writes CiliumNodes with merge patches that hold only what changed, each bound to the state it was computed from.
// Returns the outcome as a value; the caller decides what follows.
import { ask, type ApiRefusal } from '../transport/api-reply.ts';
import { type JsonObject, textAt } from '../transport/json.ts';
import type { KubernetesTransport } from '../transport/transport.ts';
import {
  notLeading,
  type ReadOutcome,
  type WriteFailure,
  writeFailure,
  type WriteOutcome,
  type WriteTarget,
} from '../transport/write-outcome.ts';

export const ciliumNodesPath = '/apis/cilium.io/v2/ciliumnodes';

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

  /** Sets annotations. Rejects only with the signal's reason. */
  annotate(
    target: WriteTarget,
    annotations: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    return this.#patch('ciliumnodes', target, { metadata: { annotations } }, signal);
  }

  /** Deletes the object in just this state. Rejects only with the signal's reason. */
  async delete(
    { name, uid, resourceVersion }: WriteTarget,
    signal: AbortSignal,
  ): Promise<'deleted' | WriteFailure> {
    if (!this.#leads()) return notLeading;
    const preconditions = { uid, resourceVersion };
    const request = {
      method: 'DELETE',
      path: pathOf(name),
      contentType: 'application/json',
      body: JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions }),
      ...(this.#timeoutMs !== undefined && { timeoutMs: this.#timeoutMs }),
    } as const;
    const reply = await ask(this.#transport, request, signal);
    return reply.kind === 'ok' || reply.kind === 'gone' ? 'deleted' : failure(reply, 'delete ciliumnodes');
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
    part: JsonObject & { readonly metadata?: JsonObject },
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    if (!this.#leads()) return notLeading;
    const request = {
      method: 'PATCH',
      path: resource === 'ciliumnodes' ? pathOf(name) : `${pathOf(name)}/status`,
      contentType: 'application/merge-patch+json',
      body: JSON.stringify({ ...part, metadata: { ...part.metadata, uid, resourceVersion } }),
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
  if (refusal.kind === 'denied' && refusal.status === 401)
    return { kind: 'unavailable', message: `the API server refuses our credentials: ${refusal.message}` };
  // Only 422 names fields of the object; with other statuses, the patch itself is invalid.
  if (refusal.kind === 'invalid' && refusal.status !== 422)
    return { kind: 'invalid', message: refusal.message };
  return writeFailure(refusal, `${attempted} of cilium.io`);
}
