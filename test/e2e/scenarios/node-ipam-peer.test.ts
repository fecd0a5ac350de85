// Beside Kubernetes' own node-ipam-controller, from the module of kube-controller-manager: the same CIDRs for the same Nodes, and
// a change from one to the other and back.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BlockCluster } from '../rig/block-cluster.ts';

const flags = ['--cluster-cidr=10.0.0.0/20,fd00::/60', '--service-cluster-ip-range=10.0.2.0/24'];
const largeFlags = ['--cluster-cidr=10.0.0.0/14', '--service-cluster-ip-range=10.0.2.0/24'];

const isBuilt = process.env['HEADWATER_NODE_IPAM_CONTROLLER'] !== undefined;

(isBuilt ? describe : describe.skip)('beside the node-ipam-controller of Kubernetes', () => {
  let cluster: BlockCluster;

  beforeAll(async () => {
    cluster = await BlockCluster.start({ scope: 'nodeipam', flags: [] });
  });

  afterAll(async () => {
    await cluster.stop();
  });

  async function deleteAll(): Promise<void> {
    await cluster.each([...(await cluster.blocks()).keys()], (name) => cluster.delete(name));
  }

  async function isServed(name: string): Promise<boolean> {
    return ((await cluster.blocks()).get(name) ?? []).length > 0;
  }

  /** Nodes come and go one by one, over more than a lap of 16 blocks. */
  async function history(): Promise<readonly string[]> {
    const given: string[] = [];
    const alive: string[] = [];
    for (let index = 0; index < 28; index++) {
      const name = `node-${index}`;
      await cluster.create(name);
      await cluster.until(`${name} is served`, () => isServed(name), 20);
      given.push(`${name} ${(await cluster.blocks()).get(name)?.join()}`);
      alive.push(name);
      if (alive.length > 8) await cluster.delete(alive.splice((index * 5) % alive.length, 1)[0] ?? '');
    }
    return given;
  }

  test('Nodes that are made and deleted one by one get the same CIDRs', async () => {
    const peer = await cluster.startPeer(flags);
    const theirs = await history();
    await peer.stop();
    await deleteAll();
    const controller = await cluster.startController(flags);
    const ours = await history();
    await controller.child.stop();
    await deleteAll();

    expect(ours).toEqual(theirs);
  });

  test('500 Nodes change from it to Headwater and back without a duplicate', async () => {
    const names = (from: number, to: number): readonly string[] =>
      Array.from({ length: to - from }, (_, index) => `n-${from + index}`);
    const first = await cluster.startPeer([...largeFlags, '--kube-api-qps=500', '--kube-api-burst=500']);
    await cluster.each(names(0, 250), (name) => cluster.create(name));
    const before = await cluster.served(250);
    await first.stop();
    const controller = await cluster.startController(largeFlags);
    await cluster.each(names(250, 500), (name) => cluster.create(name));
    const between = await cluster.served(500);
    await controller.child.stop();
    const last = await cluster.startPeer(largeFlags);
    await cluster.each(names(500, 520), (name) => cluster.create(name));
    const after = await cluster.served(520);
    await last.stop();

    expect(new Set([...after.values()].flat()).size).toBe(520);
    const changed = [...before, ...between].filter(
      ([name, blocks]) => after.get(name)?.join() !== blocks.join(),
    );
    expect(changed).toEqual([]);
  });
});
