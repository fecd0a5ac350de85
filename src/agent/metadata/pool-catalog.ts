// The pools of the cluster, as this node sees them: which families each has, and which one a pod gets.
import { families, type Family } from '../../blocks/set/cidr.ts';
import {
  type CiliumPodIpPool,
  ciliumPodIpPoolsPath,
  readCiliumPodIpPool,
} from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { type JsonObject, textsAt } from '../../runtime/json.ts';
import { Reflector } from '../../kubernetes/watch/reflector.ts';
import type { Holdings } from '../ipam/holdings.ts';
import { failed, type Failed, ok, type Outcome } from '../ipam/ipam-error.ts';
import type { PoolDirectory } from '../ipam/pools.ts';
import type { PoolDemand } from '../ipam/pool-demand.ts';
import { actionOf, type EventScope, clientPorts, type Surroundings } from '../own-node/own-node.ts';
import { type NodePods, poolAnnotations } from './node-pods.ts';
import { choosePool, type PoolNamespace } from './pool-choice.ts';
import { allLabels } from '../../kubernetes/object-identity.ts';

export interface PoolCatalogOptions {
  readonly pods: NodePods;
  readonly demand: PoolDemand;
  readonly defaultPool: string;
  /** The pools of the record, until they are known. */
  readonly holdings: Pick<Holdings, 'pools'>;
  readonly onChange: () => void;
}

export class PoolCatalog implements PoolDirectory {
  readonly defaultPool: string;
  /** Resolves once all pools are known, and `onChange` was told. */
  readonly synced: Promise<void>;
  readonly #options: PoolCatalogOptions;
  readonly #surroundings: Surroundings;
  readonly #pools: Reflector<CiliumPodIpPool>;
  readonly #namespaces: Reflector<PoolNamespace>;
  #areSynced = false;
  #problem: string | undefined;

  constructor(options: PoolCatalogOptions, surroundings: Surroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    this.defaultPool = options.defaultPool;
    this.#pools = this.#follow('CiliumPodIPPool', ciliumPodIpPoolsPath, readCiliumPodIpPool);
    this.#namespaces = this.#follow('Namespace', '/api/v1/namespaces', readNamespace);
    this.synced = this.#pools.synced.then(() => {
      this.#areSynced = true;
      options.onChange();
    });
  }

  /** Why pools cannot be read; undefined if they are. */
  get missing(): string | undefined {
    if (this.#areSynced) return undefined;
    return this.#problem === undefined ? 'the CiliumPodIPPools' : `the CiliumPodIPPools: ${this.#problem}`;
  }

  /** Undefined if there is none of this name. */
  pool(name: string): CiliumPodIpPool | undefined {
    return this.#pools.objects.get(name);
  }

  poolFor(owner: string, family: Family, uid?: string): Outcome<string> {
    const { pods, defaultPool } = this.#options;
    if (!/^[^/]+\/[^/]+$/.test(owner)) return ok(defaultPool);
    // A pool that is not known yet may be the one that matches.
    if (!this.#areSynced) return failed('poolNotReady', `waiting for ${this.missing}`);
    const pod = pods.all.get(owner);
    if (pod === undefined) return failed('poolNotReady', `resource Pod "${owner}" not found`);
    // An earlier pod of the same name may name another pool.
    if (uid !== undefined && !pod.uids.includes(uid))
      return failed('poolNotReady', `resource Pod "${owner}" with uid ${uid} not found`);
    const namespace = this.#namespaces.objects.get(pod.namespace);
    if (namespace === undefined)
      return failed('poolNotReady', `resource Namespace "${pod.namespace}" not found`);
    return choosePool({ pod, namespace, pools: this.#pools.objects.values(), defaultPool }, family);
  }

  /** None of a pool that is not known. */
  familiesOf(name: string): readonly Family[] {
    if (!this.#areSynced)
      return this.#options.holdings.pools.find(({ pool }) => pool === name)?.families ?? [];
    const pool = this.pool(name);
    return families.filter((family) => pool?.[family] !== undefined);
  }

  absence(name: string, family: Family): Failed {
    const pool = this.pool(name);
    if (!this.#areSynced) return failed('poolNotReady', `waiting for ${this.missing}`);
    if (pool === undefined)
      return failed('poolNotReady', `there is no CiliumPodIPPool ${JSON.stringify(name)}`);
    return failed(
      'poolNotReady',
      `unable to allocate from pool "${name}" (family ${family}): pool not (yet) available`,
    );
  }

  needed(name: string, family: Family): number {
    return this.#options.demand.needed(name, family);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#pools.run(signal), this.#namespaces.run(signal)]); // neither rejects
  }

  #follow<T>(scope: EventScope, path: string, transform: (raw: JsonObject) => T): Reflector<T> {
    const { log, random, onEvent } = this.#surroundings;
    return new Reflector<T>(
      { ...clientPorts(this.#surroundings), random: random.fork(path) },
      { path, transform },
      {
        onChange: ({ type }) => {
          this.#options.onChange();
          onEvent?.(scope, actionOf[type]);
        },
        onState: (state) => {
          const problem = 'problem' in state ? state.problem : undefined;
          if (problem !== undefined && problem !== this.#problem) log.warn('cannot read pools', { problem });
          this.#problem = problem ?? this.#problem;
        },
      },
    );
  }
}

function readNamespace(raw: JsonObject): PoolNamespace {
  return {
    labels: allLabels(raw),
    annotations: poolAnnotations(textsAt(raw, 'metadata', 'annotations')),
  };
}
