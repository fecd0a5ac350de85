import { describe, expect, test } from '@jest/globals';
import {
  addressesPossiblyGone,
  splitOn,
  excludedUnlessShown,
} from '../../../../src/node/publish/desired-status.ts';
import { networkInterface } from '../../providers/interfaces.ts';
import { expandBlock } from '../../../../src/providers/contract/ipv4.ts';
import { nodeOf } from '../cilium-nodes.ts';
import { view } from '../allocation-facts.ts';

const pooled = { '10.0.0.1': { resource: 'eni-1' } };

describe('an address that must not be offered again', () => {
  test.each([
    ['stays in both when both show it', { pool: pooled, enis: { 'eni-1': ['10.0.0.1'] } }, [], []],
    ['stays in the status when only the pool shows it', { pool: pooled }, [], []],
    ['enters no pool from the status', { enis: { 'eni-1': ['10.0.0.1'] } }, ['10.0.0.1'], []],
    ['is not added to either', {}, ['10.0.0.1'], ['10.0.0.1']],
  ])('%s', (_, parts, pool, status) => {
    const result = excludedUnlessShown(['10.0.0.1'], nodeOf(parts));

    expect({ pool: [...result.pool], status: [...result.status] }).toEqual({ pool, status });
  });

  test('is each address of a prefix that is possibly gone', () => {
    const possiblyGone = addressesPossiblyGone({
      ...view([]),
      possiblyGone: new Set(['10.0.0.16/28', '10.0.0.1']),
    });

    expect(possiblyGone).toHaveLength(17);
    expect(possiblyGone).toContain('10.0.0.31');
  });

  test('is the primary address of an interface that is possibly gone', () => {
    const [item, other] = ['eni-1', 'eni-2'].map((id, index) =>
      networkInterface({ id, primaryAddress: `10.0.0.${index + 1}` }),
    );
    if (item === undefined || other === undefined) throw new Error('there are two');

    const possiblyGone = addressesPossiblyGone({
      interfaces: [item, other],
      possiblyGone: new Set([item.id]),
    });

    expect(possiblyGone).toContain('10.0.0.1');
    expect(possiblyGone).not.toContain('10.0.0.2');
  });

  test('is each address of a prefix that another node partly offers, and none of other prefixes', () => {
    const item = networkInterface({
      id: 'eni-1',
      addresses: ['10.0.0.1'],
      prefixes: ['10.0.0.16/28', '10.0.0.32/28'],
    });

    const split = splitOn(view([item]), new Map([['10.0.0.17', ['other']]]));

    expect(split).toEqual(expandBlock('10.0.0.16/28'));
  });

  test('is none as long as no other node offers anything of the instance', () => {
    const item = networkInterface({ id: 'eni-1', prefixes: ['10.0.0.16/28'] });

    expect(splitOn(view([item]), new Map())).toEqual([]);
  });
});
