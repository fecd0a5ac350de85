// The Node objects of the fleet. Deletes them with all their dependents when a machine goes, like Kubernetes'
// garbage collector.
import type { Clock } from '../../runtime/clock.ts';
import { agentCloudOf } from './clouds/known-clouds.ts';
import { insist } from './insist.ts';
import type { JsonObject } from './json.ts';
import type { KubernetesClient } from './kubernetes-client.ts';
import type { NodeFacts } from './node-facts.ts';
import { ciliumNodesPath } from './own-node.ts';
import { podPath } from './pod.ts';

const nodesPath = '/api/v1/nodes';

export class NodeObjects {
  readonly #client: KubernetesClient;
  readonly #clock: Clock;

  constructor(client: KubernetesClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Resolves once a Node of this name exists. */
  create(facts: NodeFacts, signal: AbortSignal): Promise<void> {
    return insist(() => this.#client.create(nodesPath, newNode(facts), signal), 409, this.#clock, signal);
  }

  /** Resolves once Node, CiliumNode and these pods are deleted. */
  async delete(name: string, pods: readonly string[], signal: AbortSignal): Promise<void> {
    const paths = [`${nodesPath}/${name}`, `${ciliumNodesPath}/${name}`, ...pods.map(podPath)];
    const options: JsonObject = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
    for (const path of paths) {
      await insist(() => this.#client.delete(path, options, signal), 404, this.#clock, signal);
    }
  }
}

/** In the form that the cloud's controller writes. */
export function providerIdOf(facts: NodeFacts): string {
  return agentCloudOf(facts).providerIdOf(facts);
}

export function newNode(facts: NodeFacts): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: facts.name,
      labels: {
        'kubernetes.io/hostname': facts.name,
        'node.kubernetes.io/instance-type': facts.instanceType,
        ...(facts.zone !== '' && { 'topology.kubernetes.io/zone': facts.zone }),
      },
    },
    spec: facts.withoutProviderId === true ? {} : { providerID: providerIdOf(facts) },
    status: { addresses: [{ type: 'InternalIP', address: facts.primaryAddress }] },
  };
}
