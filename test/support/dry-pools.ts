// Clusters of each mode that gives blocks, whose pool has two blocks for three nodes.
import { createMetricRegistry, type MetricRegistry } from '../../src/observability/metrics.ts';
import { PoolWorld } from '../integration/blocks/pool-world.ts';
import { BlockWorld } from '../simulation/blocks/block-world.ts';

export function blockRegistry(): MetricRegistry {
  return createMetricRegistry({ measureProcess: false, serves: 'blocks' });
}

/** A pod that its node cannot give an address. */
export async function addPod(world: BlockWorld, node: string): Promise<void> {
  await world.ask('POST', '/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `on-${node}`, namespace: 'default' },
    spec: { nodeName: node, containers: [{ name: 'main', image: 'main' }] },
    status: { phase: 'Pending' },
  });
}

/** Two of three nodes have a block, and the third one, `c`, waits. */
export interface DryPool {
  readonly world: BlockWorld;
  readonly registry: MetricRegistry;
  /** Frees a block. */
  readonly relieve: () => Promise<void>;
  readonly reason: string;
  readonly event: string;
}

async function dryNetwork(command: 'run' | 'nodeipam'): Promise<DryPool> {
  const registry = blockRegistry();
  const flags =
    command === 'nodeipam'
      ? { 'cluster-cidr': '10.0.0.0/23', 'node-cidr-mask-size': '24' }
      : { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/23' };
  const world = new BlockWorld({ seed: 'one', command, flags, registry });
  world.startReplica();
  for (const name of ['a', 'b']) world.join(name);
  await world.until('two are served', () => world.isServed());
  world.join('c');
  return {
    world,
    registry,
    relieve: () => world.leave('a'),
    reason: 'PodCIDRsExhausted',
    event: command === 'nodeipam' ? 'CIDRNotAvailable' : 'PodCIDRsExhausted',
  };
}

async function dryPool(): Promise<DryPool> {
  const registry = blockRegistry();
  const world = new PoolWorld({}, { registry });
  await world.pool('default', { ipv4: { cidrs: ['10.0.0.0/23'], maskSize: 24 } });
  for (const name of ['a', 'b', 'c'])
    await world.ask('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  world.startReplica();
  for (const name of ['a', 'b']) await world.node(name, { default: 1 });
  await world.clock.advance(10_000);
  await world.node('c', { default: 1 });
  return {
    world,
    registry,
    relieve: async () => {
      await world.ask('DELETE', `${world.path}/a`);
    },
    reason: 'PoolExhausted',
    event: 'PoolExhausted',
  };
}

export const dryPools = [
  ['run --ipam=cluster-pool', () => dryNetwork('run')],
  ['run --ipam=multi-pool', dryPool],
  ['nodeipam', () => dryNetwork('nodeipam')],
] as const;
