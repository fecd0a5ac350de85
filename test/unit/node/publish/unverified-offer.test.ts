import { describe, expect, test } from '@jest/globals';
import type { Offer } from '../../../../src/node/publish/next-write.ts';
import { unverifiedOffer } from '../../../../src/node/publish/unverified-offer.ts';
import { nodeOf } from '../cilium-nodes.ts';

const offer: Offer = {
  provider: { key: 'eni', value: { enis: { 'eni-1': { ip: '10.0.0.1', addresses: ['10.0.0.2'] } } } },
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
  const kept = unverifiedOffer(offer, node, new Set(['10.0.0.9']));

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

  test('shows an address that moved to another interface of its instance there alone', () => {
    const moved = nodeOf({
      pool: { '10.0.0.2': { resource: 'eni-2' } },
      enis: { 'eni-2': ['10.0.0.2', '10.0.0.4'] },
    });

    const { pool, provider } = unverifiedOffer(offer, moved, new Set());

    expect([...pool]).toEqual([['10.0.0.2', 'eni-1']]);
    expect(provider.value).toEqual({
      enis: {
        'eni-1': { ip: '10.0.0.1', addresses: ['10.0.0.2'] },
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
