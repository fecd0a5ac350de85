// Writes the pod CIDRs of Nodes, and the condition of their network, with merge patches that are bound to the state they were
// computed from. The API server refuses any change of CIDRs that are there: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/node-v1/
import { ask } from '../transport/api-reply.ts';
import type { JsonObject } from '../transport/json.ts';
import type { KubernetesTransport } from '../transport/transport.ts';
import { networkUnavailable, nodesPath } from './node-blocks.ts';
import {
  notLeading,
  type ReadOutcome,
  writeFailure,
  type WriteOutcome,
  type WriteTarget,
} from '../transport/write-outcome.ts';

export class NodeWriter {
  readonly #transport: KubernetesTransport;
  readonly #mayWrite: () => boolean;
  readonly #timeoutMs: number;

  /** `mayWrite`: whether a write may start at this instant. `timeoutMs`: time limit of a write. */
  constructor(transport: KubernetesTransport, mayWrite: () => boolean, timeoutMs: number) {
    this.#transport = transport;
    this.#mayWrite = mayWrite;
    this.#timeoutMs = timeoutMs;
  }

  /** Sets `podCIDR` and `podCIDRs`. Rejects only with the signal's reason. */
  setPodCidrs(
    { name, uid, resourceVersion }: WriteTarget,
    podCIDRs: readonly string[],
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    const spec = { podCIDR: podCIDRs[0] ?? null, podCIDRs };
    return this.#patch(name, { metadata: { uid, resourceVersion }, spec }, signal);
  }

  /** Sets annotations. Rejects only with the signal's reason. */
  annotate(
    { name, uid, resourceVersion }: WriteTarget,
    annotations: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    return this.#patch(name, { metadata: { uid, resourceVersion, annotations } }, signal);
  }

  async #patch(name: string, patch: JsonObject, signal: AbortSignal): Promise<WriteOutcome> {
    if (!this.#mayWrite()) return notLeading;
    const request = {
      method: 'PATCH',
      path: pathOf(name),
      contentType: 'application/merge-patch+json',
      body: JSON.stringify(patch),
      timeoutMs: this.#timeoutMs,
    } as const;
    const reply = await ask(this.#transport, request, signal);
    if (reply.kind === 'ok') return { kind: 'written', raw: reply.object };
    return writeFailure(reply, 'patch nodes', lateFields);
  }

  /**
   * Sets the condition NetworkUnavailable to false, for the Node of this uid, whatever else of it changes meanwhile. Rejects
   * only with the signal's reason.
   */
  async setNetworkReady(
    {
      name,
      uid,
      at,
      condition: given = routed,
    }: Pick<WriteTarget, 'name' | 'uid'> & {
      readonly at: number;
      /** Default: the cloud routes the pod CIDRs. */
      readonly condition?: { readonly reason: string; readonly message: string };
    },
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    if (!this.#mayWrite()) return notLeading;
    const time = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
    const condition = {
      type: networkUnavailable,
      status: 'False',
      reason: given.reason,
      message: given.message,
      lastHeartbeatTime: time,
      lastTransitionTime: time,
    };
    const request = {
      method: 'PATCH',
      path: `${pathOf(name)}/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: JSON.stringify({ metadata: { uid }, status: { conditions: [condition] } }),
      timeoutMs: this.#timeoutMs,
    } as const;
    const reply = await ask(this.#transport, request, signal);
    if (reply.kind === 'ok') return { kind: 'written', raw: reply.object };
    return writeFailure(reply, 'patch nodes/status', lateFields);
  }

  /** Applies a JSON patch of taints, which tests what it replaces. Rejects only with the signal's reason. */
  async patchTaints(name: string, patch: readonly JsonObject[], signal: AbortSignal): Promise<WriteOutcome> {
    if (!this.#mayWrite()) return notLeading;
    const request = {
      method: 'PATCH',
      path: pathOf(name),
      contentType: 'application/json-patch+json',
      body: JSON.stringify(patch),
      timeoutMs: this.#timeoutMs,
    } as const;
    const reply = await ask(this.#transport, request, signal);
    if (reply.kind === 'ok') return { kind: 'written', raw: reply.object };
    // A failed test is 422 without a field: the taints are others by now.
    if (reply.kind === 'invalid') return { kind: 'conflict', message: reply.message };
    return writeFailure(reply, 'patch nodes');
  }

  /** Reads the live Node. Rejects only with the signal's reason. */
  async get(name: string, signal: AbortSignal): Promise<ReadOutcome> {
    const reply = await ask(this.#transport, { method: 'GET', path: pathOf(name) }, signal);
    return reply.kind === 'ok' ? { kind: 'found', raw: reply.object } : writeFailure(reply, 'get nodes');
  }
}

function pathOf(name: string): string {
  return `${nodesPath}/${encodeURIComponent(name)}`;
}

const routed = {
  reason: 'RouteCreated',
  message: 'the cloud routes the pod CIDRs of this node to it',
};

/** A server names these fields when CIDRs are there already. */
const lateFields: readonly string[] = ['spec.podCIDRs', 'spec.podCIDR'];
