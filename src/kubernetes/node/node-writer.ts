// Writes the pod CIDRs of Nodes, and the condition of their network, with merge patches that are bound to the state they were
// computed from. The API server refuses any change of CIDRs that are there: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/node-v1/
import { ask, type ApiRefusal } from '../transport/api-reply.ts';
import type { JsonObject } from '../transport/json.ts';
import type { KubernetesTransport } from '../transport/transport.ts';
import { nodesPath } from './node-blocks.ts';
import { networkUnavailable } from './node-network.ts';

/** The state from which a patch was computed. */
export interface NodeTarget {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export type NodeWriteOutcome =
  | { readonly kind: 'written'; readonly raw: JsonObject }
  /** The Node is in another state, or has CIDRs by now: read it. */
  | { readonly kind: 'conflict' }
  | NodeFailure;

export type NodeReadOutcome = { readonly kind: 'found'; readonly raw: JsonObject } | NodeFailure;

export type NodeFailure =
  | { readonly kind: 'gone' }
  | { readonly kind: 'denied' | 'invalid'; readonly message: string }
  /** Retry later. The write may have taken effect. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly retryAfterMs?: number };

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
  async setPodCidrs(
    { name, uid, resourceVersion }: NodeTarget,
    podCIDRs: readonly string[],
    signal: AbortSignal,
  ): Promise<NodeWriteOutcome> {
    if (!this.#mayWrite()) return { kind: 'unavailable', message: 'another process may lead by now' };
    const spec = { podCIDR: podCIDRs[0] ?? null, podCIDRs };
    const request = {
      method: 'PATCH',
      path: pathOf(name),
      contentType: 'application/merge-patch+json',
      body: JSON.stringify({ metadata: { uid, resourceVersion }, spec }),
      timeoutMs: this.#timeoutMs,
    } as const;
    const reply = await ask(this.#transport, request, signal);
    if (reply.kind === 'ok') return { kind: 'written', raw: reply.object };
    return isLate(reply) ? { kind: 'conflict' } : failure(reply, 'patch');
  }

  /**
   * Sets the condition NetworkUnavailable to false, for the Node of this uid, whatever else of it changes meanwhile. Rejects
   * only with the signal's reason.
   */
  async setNetworkReady(
    { name, uid, at }: Pick<NodeTarget, 'name' | 'uid'> & { readonly at: number },
    signal: AbortSignal,
  ): Promise<NodeWriteOutcome> {
    if (!this.#mayWrite()) return { kind: 'unavailable', message: 'another process may lead by now' };
    const time = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
    const condition = {
      type: networkUnavailable,
      status: 'False',
      reason: 'RouteCreated',
      message: 'the cloud routes the pod CIDRs of this node to it',
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
    return isLate(reply) ? { kind: 'conflict' } : failure(reply, 'patch', 'nodes/status');
  }

  /** Reads the live Node. Rejects only with the signal's reason. */
  async get(name: string, signal: AbortSignal): Promise<NodeReadOutcome> {
    const reply = await ask(this.#transport, { method: 'GET', path: pathOf(name) }, signal);
    return reply.kind === 'ok' ? { kind: 'found', raw: reply.object } : failure(reply, 'get');
  }
}

function pathOf(name: string): string {
  return `${nodesPath}/${encodeURIComponent(name)}`;
}

/** A server names these fields when a patch is bound to another state, or CIDRs are there already. */
const lateFields: readonly string[] = [
  'metadata.uid',
  'metadata.resourceVersion',
  'spec.podCIDRs',
  'spec.podCIDR',
];

function isLate(refusal: ApiRefusal): boolean {
  if (refusal.kind === 'conflict' || refusal.kind === 'expired') return true;
  return refusal.kind === 'invalid' && refusal.fields.some((field) => lateFields.includes(field));
}

function failure(refusal: ApiRefusal, verb: string, resource = 'nodes'): NodeFailure {
  switch (refusal.kind) {
    case 'gone':
      return { kind: 'gone' };
    case 'denied':
      return { kind: 'denied', message: `allow Headwater to ${verb} ${resource}: ${refusal.message}` };
    case 'invalid':
      return { kind: 'invalid', message: refusal.message };
    case 'conflict':
    case 'expired':
      return { kind: 'unavailable', message: refusal.message };
    case 'unavailable': {
      const { kind, message, retryAfterMs } = refusal;
      return { kind, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    }
  }
}
