import { describe, expect, test } from '@jest/globals';
import { scopeProblem } from '../../../../src/controller/reporting/served-scope.ts';
import { outsideNetwork } from '../../../../src/node/conditions/node-condition.ts';
import type { NodeSummary } from '../../../../src/node/reconcile/node-summary.ts';
import { servedEntry, unservedEntry } from '../node-summaries.ts';

const served = servedEntry('served');

function outside(named: string): NodeSummary {
  const scope = { option: '--network', allowed: 'net-1', named };
  const entry = servedEntry('outside');
  const assessment = { kind: 'unmanaged', condition: outsideNetwork(scope), outside: scope } as const;
  return entry.kind === 'blocked' ? entry : { ...entry, figures: { ...entry.figures, assessment } };
}

const says = (named: string): string =>
  `no node is served: --network restricts Headwater to net-1, and all nodes name ${named}`;

describe('what keeps a process unready by its scope', () => {
  test.each<[string, readonly NodeSummary[], string | undefined]>([
    ['nothing without nodes', [], undefined],
    ['nothing while all are served', [served], undefined],
    ['nothing while one is served', [outside('net-2'), served], undefined],
    ['nothing while one has another problem', [outside('net-2'), unservedEntry('blocked')], undefined],
    ['a scope that excludes the only node', [outside('net-2')], says('net-2')],
    [
      'a scope that excludes all nodes, which name several others',
      [outside('net-3'), outside('net-2'), outside('net-3')],
      says('net-2, net-3'),
    ],
    [
      'a scope that excludes all nodes, which name many others',
      ['net-9', 'net-5', 'net-3', 'net-4', 'net-2'].map(outside),
      says('net-2, net-3, net-4 and 2 more'),
    ],
    ['a scope, in printable text', [outside('net\n\u001b[31m')], says('net\ufffd\ufffd[31m')],
  ])('is %s', (_, summaries, expected) => {
    expect(scopeProblem(summaries)).toBe(expected);
  });
});
