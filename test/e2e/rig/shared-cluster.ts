// One cluster for all tests of a describe block: started before the first, ended after the last, whatever happened.
import { afterAll, beforeAll, expect } from '@jest/globals';
import { E2eCluster, type E2eClusterOptions } from './e2e-cluster.ts';

/** The cluster, once the tests run. After the last one nothing may have happened that never may. */
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
