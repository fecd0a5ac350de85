// Every state of every CiliumNode that the API served, in order, and what must hold in each.
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import type { AgentCloud } from '../../src/simulator/workload/clouds/agent-cloud.ts';
import { type JsonObject, objectAt, parseObject, textAt } from '../../src/simulator/workload/json.ts';

export interface PublishedState {
  readonly name: string;
  readonly resourceVersion: string;
  /** Undefined once the object is gone. */
  readonly object: JsonObject | undefined;
}

export class PublishedHistory {
  readonly states: PublishedState[] = [];
  /** Texts of violations. */
  readonly broken: string[] = [];
  readonly #cloud: AgentCloud;
  /** Name of the node, by `network address` in its pool. */
  readonly #offers = new Map<string, string>();
  readonly #current = new Map<string, readonly string[]>();

  constructor(handler: KubernetesHandler, cloud: AgentCloud) {
    this.#cloud = cloud;
    void this.#follow(handler);
  }

  /** States of one node, latest last. */
  of(name: string): readonly PublishedState[] {
    return this.states.filter((state) => state.name === name);
  }

  at(name: string, resourceVersion: string): JsonObject | undefined {
    return this.states.find((state) => state.name === name && state.resourceVersion === resourceVersion)
      ?.object;
  }

  async #follow(handler: KubernetesHandler): Promise<void> {
    const url = '/apis/cilium.io/v2/ciliumnodes?watch=true&resourceVersion=0&timeoutSeconds=1000000';
    const request = { method: 'GET', url, headers: { accept: 'application/json' } };
    const { body } = await handler(request, new AbortController().signal);
    for await (const piece of body) {
      for (const line of piece.split('\n')) if (line !== '') this.#take(parseObject(line));
    }
    this.broken.push('the watch of the history has ended');
  }

  #take(event: JsonObject): void {
    const object = objectAt(event, 'object');
    const name = textAt(object, 'metadata', 'name');
    const resourceVersion = textAt(object, 'metadata', 'resourceVersion');
    const gone = event['type'] === 'DELETED';
    if (!gone) this.#compare(name, this.of(name).at(-1)?.object, object);
    this.states.push({ name, resourceVersion, object: gone ? undefined : object });
    this.#withdraw(name);
    if (!gone) this.#show(name, object);
  }

  /** An address that was offered and is in use stays, whichever client changed the object. */
  #compare(name: string, before: JsonObject | undefined, after: JsonObject): void {
    const pool = objectAt(after, 'spec', 'ipam', 'pool');
    const offered = objectAt(before, 'spec', 'ipam', 'pool');
    for (const address of Object.keys(objectAt(after, 'status', 'ipam', 'used'))) {
      const isStruck = Object.hasOwn(offered, address) && !Object.hasOwn(pool, address);
      if (isStruck) this.broken.push(`${name}: ${address} is in use and was struck from the pool`);
    }
  }

  #withdraw(name: string): void {
    for (const key of this.#current.get(name) ?? [])
      if (this.#offers.get(key) === name) this.#offers.delete(key);
    this.#current.delete(name);
  }

  #show(name: string, node: JsonObject): void {
    if (!this.#cloud.isReadable(node)) this.broken.push(`${name}: no agent can decode the object`);
    const network = this.#cloud.networkOf(node);
    const pool = Object.entries(objectAt(node, 'spec', 'ipam', 'pool'));
    for (const [address, entry] of pool) {
      const problem = this.#problemOf(node, address, textAt(entry, 'resource'));
      if (problem !== undefined) this.broken.push(`${name}: ${address} is in the pool and ${problem}`);
      const other = this.#offers.get(`${network} ${address}`);
      if (other !== undefined) this.broken.push(`${address} is offered on ${name} and on ${other}`);
      this.#offers.set(`${network} ${address}`, name);
    }
    this.#current.set(
      name,
      pool.map(([address]) => `${network} ${address}`),
    );
  }

  /** Describes what an agent loses if this address leaves the pool. */
  #problemOf(node: JsonObject, address: string, interfaceId: string): string | undefined {
    const item = this.#cloud.interfacesOf(node, 'crd-allocator').find(({ id }) => id === interfaceId);
    if (item === undefined) return `its interface ${interfaceId} is not in the status`;
    if (item.lacks !== undefined) return `${interfaceId} has no ${item.lacks}`;
    return item.addresses.includes(address) ? undefined : `${interfaceId} does not show it`;
  }
}
