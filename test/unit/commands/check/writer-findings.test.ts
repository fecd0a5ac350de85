import { describe, expect, test } from '@jest/globals';
import type { ShownCiliumNode } from '../../../../src/commands/check/shown-objects.ts';
import { writerFindings } from '../../../../src/commands/check/writer-findings.ts';

const now = 10_000_000;
const minute = 60_000;

function written(
  name: string,
  manager: string,
  minutesAgo: number,
  part = 'spec.ipam.pool',
): ShownCiliumNode {
  return { name, instanceId: `i-${name}`, writes: [{ manager, part, at: now - minutesAgo * minute }] };
}

describe('rows of other writers', () => {
  test.each<[string, ShownCiliumNode[], readonly (readonly [string, RegExp])[]]>([
    ['none', [], [['ok', /^none wrote pools or interfaces of 0 CiliumNodes/]]],
    ['only Headwater', [written('a', 'headwater', 1)], [['ok', /^none wrote/]]],
    ['another instance of it', [written('a', 'headwater/0.1', 1)], [['ok', /^none wrote/]]],
    ['an operator of long ago', [written('a', 'cilium-operator-aws', 61)], [['ok', /^none wrote/]]],
    [
      'an operator that runs',
      [written('a', 'cilium-operator-aws', 5), written('b', 'cilium-operator-aws', 3, 'status.eni')],
      [
        [
          'problem',
          /^cilium-operator-aws wrote spec\.ipam\.pool and status\.eni of 2 CiliumNodes \(a, b\), last 3 min ago$/,
        ],
      ],
    ],
    [
      'an edit by hand, and a clock ahead of ours',
      [written('a', 'kubectl-edit', -2)],
      [['warning', /^kubectl-edit wrote spec\.ipam\.pool of 1 CiliumNode \(a\), last 0 min ago$/]],
    ],
    ['a program without a name', [written('a', '', 1)], [['warning', /^a program without a name wrote/]]],
  ])('say who wrote in the last hour: %s', (_, nodes, rows) => {
    expect(writerFindings(nodes, now).map(({ verdict, found }) => [verdict, found])).toEqual(
      rows.map(([verdict, found]) => [verdict, expect.stringMatching(found)]),
    );
  });
});
