import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serveAlibabaModel } from '../rig/alibaba-model.ts';
import { ModelCluster } from '../rig/model-cluster.ts';

describe('a cluster on Alibaba Cloud', () => {
  let cluster: ModelCluster;
  let model: Awaited<ReturnType<typeof serveAlibabaModel>>;

  beforeAll(async () => {
    model = await serveAlibabaModel(8);
    cluster = await ModelCluster.start(model);
  });

  afterAll(async () => {
    await cluster.stop();
  });

  test('gets its addresses, and pods get theirs', async () => {
    const controller = await cluster.startReadyController();
    await cluster.untilSupplied();
    const atFirst = cluster.standings();

    await cluster.workload.run({ kind: 'burst', name: 'web', at: 0, pods: 60, over: 2000 }, cluster.signal);
    await cluster.untilSupplied();

    // Nothing has used what a node has before its pods come, so nothing of it may be too much.
    expect(atFirst.map(({ excess }) => excess)).toEqual(atFirst.map(() => 0));
    expect(cluster.workload.waits.count).toBe(60);
    expect(await controller.refused(cluster.signal)).toEqual([]);
    expect(controller.at('warn').filter(({ message }) => /permission|may not/.test(message))).toEqual([]);
  });

  test('goes on with what a killed controller has left behind, and takes nothing from a pod', async () => {
    const { counters } = model.alibaba.gateway;
    const assigned = counters.get('AssignPrivateIpAddresses').calls;
    const [first] = cluster.controllers;
    const burst = cluster.workload.run(
      { kind: 'burst', name: 'late', at: 0, pods: 40, over: 500 },
      cluster.signal,
    );
    await cluster.until(
      'addresses are asked for',
      () => counters.get('AssignPrivateIpAddresses').calls > assigned,
    );

    await first?.process.child.kill();
    await burst;
    await cluster.startReadyController([
      '--alibaba-cloud-release-excess-ips',
      '--excess-ip-release-delay=5s',
    ]);
    await cluster.untilSupplied();

    await cluster.invariants.check();
    expect(cluster.invariants.violations).toEqual([]);
  });

  test('releases what is not needed any more, with the consent of the agents', async () => {
    await cluster.workload.run(
      { kind: 'departure', name: 'web leaves', of: 'web', pods: 60, at: 0, over: 500 },
      cluster.signal,
    );
    await cluster.until('no node has too much', () =>
      cluster.standings().every(({ excess }) => excess === 0),
    );

    await cluster.invariants.check();
    expect(cluster.invariants.violations).toEqual([]);
    expect(model.alibaba.gateway.counters.get('UnassignPrivateIpAddresses').calls).toBeGreaterThan(0);
  });
});
