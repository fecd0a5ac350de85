import { expect, test } from '@jest/globals';
import { BlockReturns } from '../../../../src/blocks/multi-pool/block-returns.ts';
import { cidrOf } from '../../../../src/blocks/set/cidr.ts';
import type { PodReading } from '../../../../src/kubernetes/watch/shown-pods.ts';

const cidr = cidrOf('10.0.0.0/27');
if (cidr === undefined) throw new Error('the network of this test is none');
const block = { pool: 'default', cidr };

const used: PodReading = { kind: 'read', shown: [{ address: '10.0.0.1', pod: 'default/web' }] };
const late: PodReading = { kind: 'unreadable', problem: 'timed out', isDenied: false };
const denied: PodReading = { kind: 'unreadable', problem: 'pods is forbidden', isDenied: true };

test.each<[string, readonly PodReading[], readonly (string | undefined)[]]>([
  ['after the third failure in a row', [late, late, late], [undefined, undefined, 'timed out']],
  [
    'not after failures with a success between them',
    [late, late, used, late, late],
    [undefined, undefined, undefined, undefined, undefined],
  ],
  ['at once where a permission is missing', [denied], ['pods is forbidden']],
  ['until they can be read', [denied, late, used], ['pods is forbidden', 'timed out', undefined]],
])(
  'a node says that its pods cannot be read %s, and gives nothing back meanwhile',
  (_, readings, expected) => {
    const returns = new BlockReturns();
    returns.wait([block], []);
    const problems: (string | undefined)[] = [];
    const gone: unknown[] = [];

    for (const reading of readings) {
      returns.beginLook([]);
      returns.lookedAt(reading);
      problems.push(returns.look?.problem);
      gone.push(...returns.wait([], []));
    }

    expect(problems).toEqual(expected);
    expect(gone).toEqual([]);
  },
);

test('a look that fails forgets no pod that an earlier one found', () => {
  const returns = new BlockReturns();
  returns.wait([block], []);
  returns.beginLook([]);
  returns.lookedAt(used);

  returns.beginLook([]);
  returns.lookedAt(late);

  expect(returns.look?.kept).toEqual([{ address: '10.0.0.1', pod: 'default/web' }]);
});
