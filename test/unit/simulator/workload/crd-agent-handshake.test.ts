import { describe, expect, test } from '@jest/globals';
import { addresses } from './cluster.ts';
import { allocated, releaseIps, serving } from './crd-rig.ts';

describe('the release handshake of an agent of the CRD allocator', () => {
  test('makes a marked address that is free ready within 15 s, and does not allocate it from then on', async () => {
    const { cluster, agent } = await serving(addresses(2));

    await cluster.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': 'marked-for-release' } } });
    await cluster.clock.advance(0);
    const given = allocated(agent, 'a', 'b');
    await cluster.clock.advance(15_000);

    expect(given).toEqual(['10.0.1.2', undefined]);
    expect(await releaseIps(cluster)).toEqual({ '10.0.1.1': 'ready-for-release' });
  });

  test('refuses to release a marked address in use', async () => {
    const { cluster, agent } = await serving(addresses(1));
    agent.add('a');

    await cluster.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': 'marked-for-release' } } });
    await cluster.clock.advance(15_000);

    expect(await releaseIps(cluster)).toEqual({ '10.0.1.1': 'do-not-release' });
  });

  test('refuses to release a marked address that is not in the pool', async () => {
    const { cluster } = await serving(addresses(1));

    await cluster.patchStatus({ ipam: { 'release-ips': { '10.0.9.9': 'marked-for-release' } } });
    await cluster.clock.advance(15_000);

    expect(await releaseIps(cluster)).toEqual({ '10.0.9.9': 'do-not-release' });
  });

  test('deletes the entry of a released address only after the address left the pool', async () => {
    const { cluster } = await serving(addresses(2));

    await cluster.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': 'released' } } });
    await cluster.clock.advance(30_000);
    const before = await releaseIps(cluster);
    await cluster.patchSpec({ ipam: { pool: { '10.0.1.1': null } } });
    await cluster.clock.advance(15_000);

    expect([before, await releaseIps(cluster)]).toEqual([{ '10.0.1.1': 'released' }, {}]);
  });

  test.each(['ready-for-release', 'released'])('does not allocate an address that is %s', async (state) => {
    const { cluster, agent } = await serving(addresses(1));

    await cluster.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': state } } });
    await cluster.clock.advance(0);

    expect(allocated(agent, 'a')).toEqual([undefined]);
  });

  test('allows the address again after the operator removes the mark', async () => {
    const { cluster, agent } = await serving(addresses(1));
    await cluster.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': 'marked-for-release' } } });
    await cluster.clock.advance(30_000);
    const before = allocated(agent, 'a');

    await cluster.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': null } } });
    await cluster.clock.advance(0);

    expect([before, allocated(agent, 'a')]).toEqual([[undefined], ['10.0.1.1']]);
  });

  test('answers nothing while there is no pool', async () => {
    const { cluster } = await serving(addresses(1));
    await cluster.patchSpec({ ipam: { pool: null } });

    await cluster.patchStatus({ ipam: { 'release-ips': { '10.0.1.1': 'marked-for-release' } } });
    await cluster.clock.advance(30_000);

    expect(await releaseIps(cluster)).toEqual({ '10.0.1.1': 'marked-for-release' });
  });

  test('ends with the address gone, the pods unharmed and no violation', async () => {
    const { cluster, agent } = await serving(addresses(3));
    const [kept = ''] = allocated(agent, 'a');
    const [leaving = ''] = addresses(3).filter((address) => address !== kept);

    await cluster.patchStatus({ ipam: { 'release-ips': { [leaving]: 'marked-for-release' } } });
    await cluster.clock.advance(15_000);
    await cluster.patchSpec({ ipam: { pool: { [leaving]: null } } });
    const left = addresses(3).filter((address) => address !== leaving);
    await cluster.patchStatus({
      eni: { enis: { 'eni-1': { addresses: left } } },
      ipam: { 'release-ips': { [leaving]: 'released' } },
    });
    await cluster.clock.advance(15_000);

    expect(await releaseIps(cluster)).toEqual({});
    expect(agent.addressesInUse()).toEqual(new Map([[kept, 'a']]));
    expect(agent.violations).toEqual([]);
  });
});
