// One cluster for all tests of a describe block: starts before the first and stops after the last, even after failures.
import { afterAll, beforeAll, expect } from '@jest/globals';
import { E2eCluster, type E2eClusterOptions } from './e2e-cluster.ts';

/** The cluster, while tests run. After the last one, no invariant may have been violated. */
export function sharedCluster(options: E2eClusterOptions): () => E2eCluster {
  let cluster: E2eCluster | undefined;

  beforeAll(async () => {
    cluster = await E2eCluster.start(options);
  });

  afterAll(async () => {
    if (cluster === undefined) return;
    try {
      await cluster.invariants.check();
      expect(cluster.invariants.violations).toEqual([]);
    } finally {
      await cluster.stop();
    }
  });

  return () => {
    if (cluster === undefined) throw new Error('the cluster has not been started');
    return cluster;
  };
}
