// The embedded Kubernetes API with CiliumNodes, and a client of it that shares nothing with the code under test.
import { InProcessTransport } from '../../support/in-process-transport.ts';
import type { JsonObject } from '../../../src/runtime/json.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import {
  KubernetesModel,
  type KubernetesModelOptions,
} from '../../../src/simulator/kubernetes/kubernetes-model.ts';

export const ciliumNodes = 'ciliumnodes.cilium.io';

export class EmbeddedApi {
  readonly model: KubernetesModel;
  readonly transport: InProcessTransport;

  constructor(clock: Clock, seed = 'api', more: Partial<KubernetesModelOptions> = {}) {
    this.model = new KubernetesModel({ clock, random: new Random(seed), crds: [ciliumNodeCrd], ...more });
    this.transport = new InProcessTransport(this.model.handle, clock);
  }

  /** A request with kubectl's rights; throws unless it succeeds. */
  async kubectl(method: string, url: string, body?: JsonObject): Promise<JsonObject> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await this.model.handle(
      {
        method,
        url,
        headers: { 'content-type': type, authorization: 'Bearer admin' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      new AbortController().signal,
    );
    const text = typeof response.body === 'string' ? response.body : '';
    if (response.status > 299) throw new Error(`${response.status} ${text}`);
    return JSON.parse(text) as JsonObject;
  }

  create(name: string, spec: JsonObject = {}): Promise<JsonObject> {
    const node = { apiVersion: 'cilium.io/v2', kind: 'CiliumNode', metadata: { name }, spec };
    return this.kubectl('POST', '/apis/cilium.io/v2/ciliumnodes', node);
  }

  patch(name: string, patch: JsonObject, part: '' | '/status' = ''): Promise<JsonObject> {
    return this.kubectl('PATCH', `/apis/cilium.io/v2/ciliumnodes/${name}${part}`, patch);
  }

  delete(name: string): Promise<JsonObject> {
    return this.kubectl('DELETE', `/apis/cilium.io/v2/ciliumnodes/${name}`);
  }
}
