import { describe, expect, test } from '@jest/globals';
import { sharedCluster } from '../rig/shared-cluster.ts';

describe('a fleet of both protocols', () => {
  const shared = sharedCluster({ nodes: 12 });

  test('reaches its watermarks', async () => {
    const cluster = shared();
    const controller = await cluster.startReadyController();

    await cluster.untilSupplied();

    expect(cluster.orphaned()).toEqual([]);
    expect(new Set(cluster.workload.protocols.values())).toEqual(new Set(['crd-allocator', 'multi-pool']));
    expect([...controller.at('warn'), ...controller.at('error')]).toEqual([]);
  });
});
