// Sends the three requests of leader election: get, create and update one Lease.
import { ask, type ApiRefusal, type Reply } from '../transport/api-reply.ts';
import { claimedLease, type LeaseClaim, type LeaseRecord, newLease, readLease } from './lease-record.ts';
import type { KubernetesTransport, TransportRequest } from '../transport/transport.ts';

export type LeaseReply =
  | { readonly kind: 'lease'; readonly lease: LeaseRecord }
  /** The Lease does not exist; for `create`, the namespace does not exist. */
  | { readonly kind: 'missing' }
  /** Another process wrote first, or our own write succeeded and its answer was lost. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'failed'; readonly problem: ApiRefusal };

export interface Patience {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Reads and writes the Lease. The promises reject only with the signal's reason. */
export class LeaseClient {
  readonly #transport: KubernetesTransport;
  readonly #namespace: string;
  readonly #name: string;

  constructor(transport: KubernetesTransport, namespace: string, name: string) {
    this.#transport = transport;
    this.#namespace = namespace;
    this.#name = name;
  }

  read(patience: Patience): Promise<LeaseReply> {
    return this.#send({ method: 'GET', path: this.#path }, patience);
  }

  create(claim: LeaseClaim, patience: Patience): Promise<LeaseReply> {
    const body = JSON.stringify(newLease(this.#namespace, this.#name, claim));
    return this.#send(
      { method: 'POST', path: this.#collection, contentType: 'application/json', body },
      patience,
    );
  }

  /** Overwrites the state `lease` with `claim`; conflicts on any other state. */
  claim(lease: LeaseRecord, claim: LeaseClaim, patience: Patience): Promise<LeaseReply> {
    const body = JSON.stringify(claimedLease(lease, claim));
    return this.#send({ method: 'PUT', path: this.#path, contentType: 'application/json', body }, patience);
  }

  async #send(request: TransportRequest, { timeoutMs, signal }: Patience): Promise<LeaseReply> {
    return replyOf(await ask(this.#transport, { ...request, timeoutMs }, signal));
  }

  get #collection(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(this.#namespace)}/leases`;
  }

  get #path(): string {
    return `${this.#collection}/${encodeURIComponent(this.#name)}`;
  }
}

function replyOf(reply: Reply): LeaseReply {
  if (reply.kind === 'ok') return { kind: 'lease', lease: readLease(reply.object) };
  if (reply.kind === 'gone') return { kind: 'missing' };
  return reply.kind === 'conflict' ? { kind: 'conflict' } : { kind: 'failed', problem: reply };
}
