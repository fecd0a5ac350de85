import { describe, expect, test } from '@jest/globals';
import { addresses, type Cluster } from './cluster.ts';
import { allocated, releaseIps, serving, used, whats } from './crd-rig.ts';

describe('an agent of the CRD allocator that restarts', () => {
  test('restores its endpoints before it reports addresses in use', async () => {
    const { cluster, agent } = await serving(addresses(4));
    const context = cluster.context();
    const first = cluster.agent('crd-allocator', context);
    await agent.stop();
    first.start();
    await cluster.clock.advance(15_000);
    const given = allocated(first, 'a', 'b');
    await cluster.clock.advance(15_000);
    await first.stop();
    const start = cluster.clock.monotonic();

    const second = cluster.agent('crd-allocator', context);
    second.start();
    await cluster.clock.advance(30_000);

    expect(allocated(second, 'a', 'b')).toEqual(given);
    expect(new Set(Object.keys(await used(cluster)))).toEqual(new Set(given));
    expect(cluster.events.filter((event) => event.at > start && event.kind === 'address-taken')).toEqual([]);
    expect(second.violations).toEqual([]);
  });

  test('writes nothing to the status before its endpoints are restored, not even an answer', async () => {
    const { cluster, agent } = await serving(addresses(4));
    agent.add('a');
    await cluster.clock.advance(15_000);
    const before = await used(cluster);
    await agent.stop();
    await cluster.patchSpec({ ipam: { 'pre-allocate': 8 } });
    await cluster.patchStatus({ ipam: { 'release-ips': { '10.0.9.9': 'marked-for-release' } } });

    cluster.agent('crd-allocator').start();
    await cluster.clock.advance(60_000);

    expect(await used(cluster)).toEqual(before);
    expect(await releaseIps(cluster)).toEqual({ '10.0.9.9': 'marked-for-release' });
  });

  test.each<[string, (cluster: Cluster) => Promise<unknown>, readonly string[]]>([
    ['nothing', () => Promise.resolve(), []],
    [
      'its address leaves the pool',
      (c) => c.patchSpec({ ipam: { pool: { '10.0.1.1': null, '10.0.1.9': { resource: 'eni-1' } } } }),
      ['lost-across-restart'],
    ],
    [
      'its address is marked',
      (c) => c.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': 'marked-for-release' } } }),
      [],
    ],
    [
      'its address is called released',
      (c) => c.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': 'released' } } }),
      ['lost-across-restart'],
    ],
  ])('notices after its restart that this happened while it was down: %s', async (_, harm, expected) => {
    const { cluster, agent } = await serving(['10.0.1.1']);
    const context = cluster.context();
    await agent.stop();
    const first = cluster.agent('crd-allocator', context);
    first.start();
    await cluster.clock.advance(15_000);
    first.add('a');
    await first.stop();

    await harm(cluster);
    const second = cluster.agent('crd-allocator', context);
    second.start();
    await cluster.clock.advance(30_000);

    expect(whats(second)).toEqual(expected);
    expect(second.addressesInUse().size).toBe(expected.length === 0 ? 1 : 0);
  });

  test('refuses a mark that was put on an address in use while the agent was down', async () => {
    const { cluster, agent } = await serving(['10.0.1.1']);
    const context = cluster.context();
    await agent.stop();
    const first = cluster.agent('crd-allocator', context);
    first.start();
    await cluster.clock.advance(15_000);
    first.add('a');
    await first.stop();

    await cluster.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': 'marked-for-release' } } });
    cluster.agent('crd-allocator', context).start();
    await cluster.clock.advance(30_000);

    expect(await releaseIps(cluster)).toEqual({ '10.0.1.1': 'do-not-release' });
  });

  test('frees the address of a pod that ended while the agent was down', async () => {
    const { cluster, agent } = await serving(['10.0.1.1']);
    const context = cluster.context();
    await agent.stop();
    const first = cluster.agent('crd-allocator', context);
    first.start();
    await cluster.clock.advance(15_000);
    first.add('a');
    await cluster.clock.advance(15_000);
    await first.stop();
    first.remove('a');

    const second = cluster.agent('crd-allocator', context);
    second.start();
    await cluster.clock.advance(30_000);

    expect(await used(cluster)).toEqual({});
    expect(allocated(second, 'b')).toEqual(['10.0.1.1']);
  });
});
