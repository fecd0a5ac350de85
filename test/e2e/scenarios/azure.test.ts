import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serveAzureModel } from '../rig/azure-model.ts';
import { ModelCluster } from '../rig/model-cluster.ts';

describe('a cluster on Azure', () => {
  let cluster: ModelCluster;
  let model: Awaited<ReturnType<typeof serveAzureModel>>;

  beforeAll(async () => {
    model = await serveAzureModel(8);
    cluster = await ModelCluster.start(model);
  });

  afterAll(async () => {
    await cluster.stop();
  });

  test('gets its addresses, with agents of both protocols, and pods get theirs', async () => {
    const controller = await cluster.startReadyController();
    await cluster.untilSupplied();
    const atFirst = cluster.standings();

    await cluster.workload.run({ kind: 'burst', name: 'web', at: 0, pods: 60, over: 2000 }, cluster.signal);
    await cluster.untilSupplied();

    // Nothing has used what a node has before its pods come, so nothing of it may be too much.
    expect(atFirst.map(({ excess }) => excess)).toEqual(atFirst.map(() => 0));
    expect(cluster.workload.waits.count).toBe(60);
    expect(new Set(cluster.workload.protocols.values())).toEqual(new Set(['crd-allocator', 'multi-pool']));
    expect(await controller.refused(cluster.signal)).toEqual([]);
    expect(controller.at('warn').filter(({ message }) => /permission|may not/.test(message))).toEqual([]);
  });

  test('goes on with what a killed controller has left behind, and takes nothing from a pod', async () => {
    const [first] = cluster.controllers;
    const burst = cluster.workload.run(
      { kind: 'burst', name: 'late', at: 0, pods: 40, over: 500 },
      cluster.signal,
    );
    const isChanging = () =>
      [...model.arm.cloud.operations.all.values()].some(({ status }) => status === 'InProgress');
    await cluster.until('an update is in flight', isChanging);

    await first?.process.child.kill();
    await burst;
    await cluster.startReadyController();
    await cluster.untilSupplied();

    await cluster.invariants.check();
    expect(cluster.invariants.violations).toEqual([]);
  });
});
