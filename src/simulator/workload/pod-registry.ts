// The pods of the workload and their nodes. Creates and deletes them through the Kubernetes API, like a user
// and a scheduler.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { insist } from './insist.ts';
import type { KubernetesClient } from './kubernetes-client.ts';
import { chooseNode } from './placement.ts';
import { newPod, podCollectionPath, podKey, podPath } from './pod.ts';
import type { Placement } from './workload.ts';

export interface PodWish {
  readonly name: string;
  readonly hostNetwork?: boolean;
  /** `spread` by default; ignored with `nodeName`. */
  readonly placement?: Placement;
  readonly nodeName?: string;
}

export type PodCreation =
  | { readonly kind: 'created'; readonly key: string; readonly nodeName: string }
  /** No node has room. */
  | { readonly kind: 'unplaced' };

export interface PodRegistryOptions {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum pods per node. */
  readonly podsPerNode: number;
  /** Grace period of each pod, in seconds of the kubelets' pace. */
  readonly grace: number;
}

export class PodRegistry {
  readonly #options: PodRegistryOptions;
  readonly #loads = new Map<string, number>();
  /** Node by pod. */
  readonly #nodes = new Map<string, string>();
  /** Creations in flight. */
  readonly #creations = new Map<string, Promise<void>>();

  constructor(options: PodRegistryOptions) {
    this.#options = options;
  }

  addNode(name: string): void {
    this.#loads.set(name, 0);
  }

  /** Removes the node; returns the pods that were bound to it. */
  removeNode(name: string): readonly string[] {
    this.#loads.delete(name);
    const lost = [...this.#nodes].filter(([, node]) => node === name).map(([key]) => key);
    for (const key of lost) this.#nodes.delete(key);
    return lost;
  }

  /** Resolves once the API has the pod. */
  async create(wish: PodWish, signal: AbortSignal): Promise<PodCreation> {
    const { client, clock, random, podsPerNode, grace } = this.#options;
    const nodeName =
      wish.nodeName ?? chooseNode(this.#loads, podsPerNode, wish.placement ?? 'spread', random);
    if (nodeName === undefined) return { kind: 'unplaced' };

    const key = podKey(wish.name);
    this.#bind(key, nodeName);
    const hostNetwork = wish.hostNetwork ?? false;
    const pod = newPod({ name: wish.name, nodeName, hostNetwork, grace });
    const creation = insist(() => client.create(podCollectionPath, pod, signal), 409, clock, signal);
    this.#creations.set(key, creation);
    await creation;
    this.#creations.delete(key);
    return { kind: 'created', key, nodeName };
  }

  /** Resolves once the API has recorded the deletion or the pod is gone; waits for its creation first. */
  async delete(key: string, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    await this.#creations.get(key);
    this.#unbind(key);
    const options = { apiVersion: 'v1', kind: 'DeleteOptions' };
    await insist(() => client.delete(podPath(key), options, signal), 404, clock, signal);
  }

  #bind(key: string, nodeName: string): void {
    this.#nodes.set(key, nodeName);
    this.#loads.set(nodeName, (this.#loads.get(nodeName) ?? 0) + 1);
  }

  #unbind(key: string): void {
    const nodeName = this.#nodes.get(key);
    if (nodeName === undefined) return;
    this.#nodes.delete(key);
    const load = this.#loads.get(nodeName);
    if (load !== undefined) this.#loads.set(nodeName, load - 1);
  }
}
