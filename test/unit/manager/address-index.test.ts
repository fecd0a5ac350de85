import { describe, expect, test } from '@jest/globals';
import { AddressIndex } from '../../../src/manager/address-index.ts';

const network = 'vpc-1';

function indexOf(shown: Readonly<Record<string, readonly string[]>>): {
  index: AddressIndex;
  freed: string[];
} {
  const freed: string[] = [];
  const index = new AddressIndex((names) => freed.push(...names));
  for (const [name, addresses] of Object.entries(shown)) index.setOffered(name, network, addresses);
  return { index, freed };
}

describe('claiming an address', () => {
  test.each<[string, Readonly<Record<string, readonly string[]>>, 'withheld' | 'shared' | 'free']>([
    ['that nobody shows', {}, 'free'],
    ['that the node itself shows', { a: ['x'] }, 'free'],
    ['that another node shows', { b: ['x'] }, 'withheld'],
    ['that both show', { a: ['x'], b: ['x'] }, 'shared'],
    ['that the node and two others show', { a: ['x'], b: ['x'], c: ['x'] }, 'shared'],
  ])('%s', (_, shown, expected) => {
    const { index } = indexOf(shown);

    const { withheld, shared } = index.claim({ name: 'a', networkId: network, addresses: ['x'] });

    const others = Object.keys(shown).filter((name) => name !== 'a');
    expect([...withheld]).toEqual(expected === 'withheld' ? [['x', others]] : []);
    expect([...shared]).toEqual(expected === 'shared' ? [['x', others]] : []);
  });

  test('that both show keeps it from everybody else', () => {
    const { index } = indexOf({ a: ['x'], b: ['x'] });
    index.claim({ name: 'a', networkId: network, addresses: ['x'] });
    index.setOffered('a', network, []);
    index.setOffered('b', network, []);

    const { withheld } = index.claim({ name: 'c', networkId: network, addresses: ['x'] });

    expect([...withheld]).toEqual([['x', ['a']]]);
  });

  test.each(['withheld', 'shared'])('that was %s is told once the other node lets go', (how) => {
    const { index, freed } = indexOf({ ...(how === 'shared' && { a: ['x'] }), b: ['x'] });
    index.claim({ name: 'a', networkId: network, addresses: ['x'] });
    const before = [...freed];

    index.setOffered('b', network, []);

    expect(before).toEqual([]);
    expect(freed).toEqual(['a']);
  });

  test('that another network shows is free', () => {
    const { index } = indexOf({});
    index.setOffered('b', 'vpc-2', ['x']);

    const { withheld, shared } = index.claim({ name: 'a', networkId: network, addresses: ['x'] });

    expect(withheld.size + shared.size).toBe(0);
  });
});
