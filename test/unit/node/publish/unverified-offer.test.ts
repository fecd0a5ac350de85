import { describe, expect, test } from '@jest/globals';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import type { Offer } from '../../../../src/node/publish/next-write.ts';
import { movedWithin, unverifiedOffer } from '../../../../src/node/publish/unverified-offer.ts';
import { expandBlock } from '../../../../src/providers/contract/ipv4.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { ciliumNode } from '../../kubernetes/cilium-node-fixture.ts';
import { networkInterface } from '../../providers/interfaces.ts';
import { nodeOf, restoring, wellFormed } from '../cilium-nodes.ts';

const offer: Offer = {
  provider: { ...awsSection, value: { enis: { 'eni-1': { ip: '10.0.0.1', addresses: ['10.0.0.2'] } } } },
  interfaces: new Set(['eni-1']),
  pool: new Map([['10.0.0.2', 'eni-1']]),
  staticIp: '',
  preAllocate: 8,
};

const node = nodeOf({
  pool: {
    '10.0.0.3': { resource: 'eni-1' },
    '10.0.0.4': { resource: 'eni-2' },
    '10.0.0.9': { resource: 'eni-2' },
  },
  enis: { 'eni-1': ['10.0.0.3', '10.0.0.9'], 'eni-2': ['10.0.0.4', '10.0.0.9'] },
});

describe('the kept part of an unverified CiliumNode', () => {
  const kept = unverifiedOffer(offer, node, new Set(['10.0.0.9']), restoring);

  test('is all that it shows and its instance has, and nothing that others have', () => {
    expect([...kept.pool]).toEqual([
      ['10.0.0.2', 'eni-1'],
      ['10.0.0.3', 'eni-1'],
      ['10.0.0.4', 'eni-2'],
    ]);
    expect(kept.provider.value).toEqual({
      enis: {
        'eni-1': { id: 'eni-1', ip: '10.0.0.1', addresses: ['10.0.0.2', '10.0.0.3'] },
        'eni-2': { id: 'eni-2', addresses: ['10.0.0.4'] },
      },
    });
  });

  test('has the interfaces of what it shows', () => {
    expect([...kept.interfaces].toSorted()).toEqual(['eni-1', 'eni-2']);
  });

  test('has a public address that it shows', () => {
    expect(kept.staticIp).toBeUndefined();
  });
});

describe('what is elsewhere', () => {
  const prefix = '10.0.1.16/28';
  const [first = '', ...others] = expandBlock(prefix);

  test('stays only where the instance has it now', () => {
    const moved = nodeOf({
      pool: { '10.0.0.2': { resource: 'eni-2' } },
      enis: { 'eni-1': ['10.0.0.2'], 'eni-2': ['10.0.0.2', '10.0.0.4'] },
    });

    const { pool, provider } = unverifiedOffer(offer, moved, new Set(['10.0.0.2']), restoring);

    expect([...pool]).toEqual([['10.0.0.2', 'eni-1']]);
    expect(provider.value).toMatchObject({
      enis: { 'eni-1': { addresses: ['10.0.0.2'] }, 'eni-2': { addresses: ['10.0.0.4'] } },
    });
  });

  test('takes the prefix with it that it was in, and leaves the other addresses', () => {
    const shown = wellFormed(
      ciliumNode({
        status: { eni: { enis: { 'eni-2': { addresses: [first, ...others], prefixes: [prefix] } } } },
      }),
    );

    const { provider } = unverifiedOffer(offer, shown, new Set([first]), restoring);

    expect(provider.value).toMatchObject({ enis: { 'eni-2': { addresses: others, prefixes: [] } } });
  });

  test.each<[string, Partial<NetworkInterface>, Partial<NetworkInterface>, readonly string[]]>([
    ['nothing that its interface has still', { addresses: ['a'] }, { addresses: ['b'] }, []],
    ['nothing that no interface has', {}, {}, []],
    ['an address that another interface has', {}, { addresses: ['a'] }, ['a']],
    ['an address that is the primary one of another interface', {}, { primaryAddress: 'a' }, ['a']],
    ['nothing that both seem to have', { addresses: ['a'] }, { addresses: ['a'] }, []],
  ])('is %s', (_, own, other, expected) => {
    const interfaces = [
      networkInterface({ id: 'eni-1', ...own }),
      networkInterface({ id: 'eni-2', ...other }),
    ];

    expect(movedWithin({ interfaces }, [networkInterface({ id: 'eni-1', addresses: ['a'] })])).toEqual(
      expected,
    );
  });

  test('is each address of a prefix that another interface has', () => {
    const interfaces = [
      networkInterface({ id: 'eni-1', primaryAddress: '10.0.0.1' }),
      networkInterface({ id: 'eni-2', primaryAddress: '10.0.0.2', prefixes: [prefix] }),
    ];

    const moved = movedWithin({ interfaces }, [networkInterface({ id: 'eni-1', prefixes: [prefix] })]);

    expect(moved).toEqual([first, ...others]);
  });
});
