import { describe, expect, test } from '@jest/globals';
import { CrdAllocator } from '../../../../src/agent/allocators/crd-allocator.ts';
import { parseAddress } from '../../../../src/blocks/set/cidr.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { AgentRig, printed } from '../agent-rig.ts';

/** One address, of an interface that no status shows. */
function offering(ip: string): CrdAllocator {
  const value = parseAddress(ip)?.value ?? 0n;
  const addresses = new Map([[value, { resource: '', owner: '', isLeaving: false }]]);
  return new CrdAllocator('ipv4', { addresses, interfaces: undefined }, new Random('offer'));
}

describe('ADD', () => {
  test.each<[object, string, string]>([
    [{ gateway: '10.0.0.254/23' }, '10.0.0.7/23', '10.0.0.254'],
    [{ gateway: '10.0.0.254/23', prefixLength: 'host' }, '10.0.0.7/32', '10.0.0.254'],
    [{ prefixLength: 'host' }, '10.0.0.7/32', '169.254.1.1'],
  ])('takes %j where the network of an address is unknown', async (ipam, address, gateway) => {
    const rig = new AgentRig({ blocks: [] });
    rig.ipam.serve(offering('10.0.0.7'));

    expect(printed(await rig.call('ADD', { ipam }))).toMatchObject({ ips: [{ address, gateway }] });
  });

  test.each([{}, { gateway: '10.0.0.1' }, { gateway: 'fd00::1/64' }])(
    'with %j is refused where the network of an address is unknown, and holds nothing',
    async (ipam) => {
      const rig = new AgentRig({ blocks: [] });
      rig.ipam.serve(offering('10.0.0.7'));

      const refused = printed(await rig.call('ADD', { ipam }));

      expect(refused).toMatchObject({
        code: 7,
        msg: expect.stringContaining('set ipam.gateway to one with'),
      });
      expect(rig.held).toEqual([]);
    },
  );

  test('of a pod that is deleted while its DNS settings are read gets nothing', async () => {
    const rig = new AgentRig();
    rig.files.set('/etc/r', '');

    const adding = rig.call('ADD', { ipam: { resolvConf: '/etc/r' } });
    await rig.call('DEL');

    expect(printed(await adding)).toMatchObject({ code: 11, msg: 'gave up: the requester is gone' });
    expect(rig.held).toEqual([]);
  });
});
