import { describe, expect, test } from '@jest/globals';
import { firstHeld, firstHeldText, wideHoldings } from '../../../../src/blocks/cluster-pool/first-held.ts';
import { cidrText } from '../../../../src/blocks/set/cidr.ts';
import { cidr } from '../allocation/holder-model.ts';

const networks = '10.0.0.0/8 26';
const old = { uid: 'old', cidr: cidr('10.1.0.0/16') };
const late = { uid: 'late', cidr: cidr('10.0.0.0/8') };

describe('what objects had first', () => {
  test.each([
    ['everything where nothing is remembered', undefined, [old, late]],
    ['only what is remembered', firstHeldText(networks, [old]), [old]],
    ['nothing where nothing was there', firstHeldText(networks, []), []],
    [
      'everything where blocks come from other networks now',
      firstHeldText('10.0.0.0/8 24', [old]),
      [old, late],
    ],
    ['everything where the memory cannot be read', '{', [old, late]],
    ['no other CIDR of the same object', firstHeldText(networks, [{ ...late, uid: 'old' }]), []],
  ])('is %s', (_, text, expected) => {
    expect(firstHeld(networks, text, [old, late])).toEqual(expected);
  });

  test.each(['constructor', '__proto__', 'hasOwnProperty'])(
    'is remembered under any uid, such as %s',
    (uid) => {
      const own = { ...old, uid };

      expect(firstHeld(networks, firstHeldText(networks, [own]), [own, late])).toEqual([own]);
    },
  );

  test('is remembered with all CIDRs of an object', () => {
    const both = [old, { ...late, uid: 'old' }];

    expect(firstHeld(networks, firstHeldText(networks, both), [...both, late])).toEqual(both);
  });

  test('is not remembered where that takes too much room', () => {
    const many = Array.from({ length: 5000 }, (_, index) => ({ ...old, uid: `uid-${index}` }));

    expect(firstHeldText(networks, many)).toBeUndefined();
  });

  test.each<[string, readonly string[], readonly string[]]>([
    [
      'a CIDR of more blocks than count',
      ['10.1.0.0/16', '10.2.0.0/26', 'none'],
      ['10.1.0.0/16', '10.2.0.0/26'],
    ],
    [
      'many that are more together',
      ['10.1.0.0/25', '10.2.0.0/25', '10.3.0.0/26'],
      ['10.1.0.0/25', '10.2.0.0/25', '10.3.0.0/26'],
    ],
    ['as many as count', ['10.1.0.0/25', '10.2.0.0/25', 'fd00::/112'], []],
  ])('is %s', (_, blocks, expected) => {
    const wide = wideHoldings(
      [{ uid: 'a', blocks }],
      { blocksIn: ({ length }) => 2 ** Math.max(0, 26 - length) },
      4,
    );

    expect(wide.map(({ cidr: own }) => cidrText(own))).toEqual(expected);
  });
});
