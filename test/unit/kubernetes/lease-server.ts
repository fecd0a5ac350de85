// An API server with one Lease in memory: resource versions, conflicts, and faults of the network.
import type { JsonObject } from '../../../src/runtime/json.ts';
import type { TransportRequest } from '../../../src/kubernetes/transport/transport.ts';
import { type Script, type Server, status } from './scripted-transport.ts';

export class LeaseServer {
  lease: JsonObject | undefined;
  #version = 100;

  readonly answer: Server = (request) => this.apply(request);

  apply({ method, body }: TransportRequest): Script {
    if (method === 'GET') return this.#found();
    const sent = JSON.parse(body ?? '{}') as JsonObject;
    if (method === 'POST')
      return this.lease === undefined ? this.#store(sent, 201) : status(409, 'already exists');
    if (this.lease === undefined) return status(404, 'not found');
    const { resourceVersion } = sent['metadata'] as JsonObject;
    if (resourceVersion !== (this.lease['metadata'] as JsonObject)['resourceVersion'])
      return status(409, 'modified');
    return this.#store(sent, 200);
  }

  /** Writes the Lease as another client. */
  write(spec: JsonObject): void {
    this.#store({ metadata: { name: 'lock' }, spec }, 200);
  }

  get spec(): JsonObject {
    return (this.lease?.['spec'] ?? {}) as JsonObject;
  }

  #found(): Script {
    return this.lease === undefined ? status(404, 'not found') : { status: 200, body: this.lease };
  }

  #store(sent: JsonObject, code: number): Script {
    const metadata = { ...(sent['metadata'] as JsonObject), resourceVersion: String(++this.#version) };
    this.lease = { ...sent, metadata };
    return { status: code, body: this.lease };
  }
}
