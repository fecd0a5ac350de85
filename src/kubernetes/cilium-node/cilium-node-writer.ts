// Writes CiliumNodes.
import { ask } from '../transport/api-reply.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';
import { ObjectWriter, type WrittenKind } from '../transport/object-writer.ts';
import type { KubernetesTransport } from '../transport/transport.ts';
import type { WriteFailure, WriteOutcome, WriteTarget } from '../transport/write-outcome.ts';

export const ciliumNodesPath = '/apis/cilium.io/v2/ciliumnodes';

const kind: WrittenKind = { path: ciliumNodesPath, resource: ['ciliumnodes', ' of cilium.io'] };

export class CiliumNodeWriter extends ObjectWriter {
  /** `leads`: whether this process leads at this instant. Default: always. `timeoutMs`: time limit of a write. */
  constructor(transport: KubernetesTransport, leads: () => boolean = () => true, timeoutMs?: number) {
    super(transport, kind, leads, timeoutMs);
  }

  /** Patches `spec`; a patch of the main resource never changes the status. Rejects only with the signal's reason. */
  patchSpec(target: WriteTarget, spec: JsonObject, signal: AbortSignal): Promise<WriteOutcome> {
    return this.merge(target, { spec }, signal);
  }

  /** Patches `status` through its subresource, the only way to change it. Rejects only with the signal's reason. */
  patchStatus(target: WriteTarget, status: JsonObject, signal: AbortSignal): Promise<WriteOutcome> {
    return this.merge(target, { status }, signal);
  }

  /** Deletes the object in just this state. Rejects only with the signal's reason. */
  async delete(
    { name, uid, resourceVersion }: WriteTarget,
    signal: AbortSignal,
  ): Promise<'deleted' | WriteFailure> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
    const outcome = await this.write(name, { method: 'DELETE', type: 'json', body }, signal);
    return outcome.kind === 'written' || outcome.kind === 'gone' ? 'deleted' : outcome;
  }

  /**
   * The current resource version of the collection; writes with a lower one came before. Undefined when unavailable.
   * Rejects only with the signal's reason.
   */
  async collectionVersion(signal: AbortSignal): Promise<string | undefined> {
    const reply = await ask(this.transport, { method: 'GET', path: `${ciliumNodesPath}?limit=1` }, signal);
    return reply.kind === 'ok' ? textAt(reply.object, 'metadata', 'resourceVersion') : undefined;
  }
}
