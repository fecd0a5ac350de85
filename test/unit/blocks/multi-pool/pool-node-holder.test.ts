import { describe, expect, test } from '@jest/globals';
import { withBlocks } from '../../../../src/blocks/multi-pool/pool-node-holder.ts';
import type { Json } from '../../../../src/runtime/json.ts';
import { cidr } from '../allocation/holder-model.ts';

const block = (pool: string, text: string) => ({ pool, cidr: cidr(text) });

describe('the list of blocks', () => {
  test.each<[string, readonly Json[], readonly Json[]]>([
    ['empty', [], [{ pool: 'blue', cidrs: ['10.0.0.64/26', 'fd00::/122'] }]],
    [
      'of other pools',
      [
        { pool: 'zoo', cidrs: [] },
        { pool: 'a', cidrs: ['10.9.0.0/26'] },
      ],
      [
        { pool: 'a', cidrs: ['10.9.0.0/26'] },
        { pool: 'blue', cidrs: ['10.0.0.64/26', 'fd00::/122'] },
        { pool: 'zoo', cidrs: [] },
      ],
    ],
    [
      'of this pool, with what nobody knows',
      [{ pool: 'blue', cidrs: ['no CIDR', '10.0.0.128/26', '9.0.0.0/26'], note: 1 }, 'text'],
      [
        {
          pool: 'blue',
          cidrs: ['9.0.0.0/26', '10.0.0.64/26', '10.0.0.128/26', 'fd00::/122', 'no CIDR'],
          note: 1,
        },
        'text',
      ],
    ],
  ])('%s is only added to, and sorted', (_, raw, expected) => {
    const added = [block('blue', 'fd00::/122'), block('blue', '10.0.0.64/26')];
    expect(withBlocks(raw, added, () => ({}))).toEqual(expected);
  });
});
