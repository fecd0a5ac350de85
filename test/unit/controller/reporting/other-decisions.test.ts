import { describe, expect, test } from '@jest/globals';
import { looksAt, OtherDecisions } from '../../../../src/controller/reporting/other-decisions.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const same = { kind: 'same' } as const;
const other = { kind: 'otherwise', would: 'x', did: 'y' } as const;
const nodes = new Set(['a', 'b']);

describe('decisions of another program beside a dry run', () => {
  test('count by their last one on each node that is there', () => {
    const decisions = new OtherDecisions(recordingLogger());
    for (const [node, outcome] of [
      ['a', other],
      ['a', same],
      ['b', same],
      ['b', other],
      ['gone', other],
      ['gone too', same],
    ] as const)
      decisions.note(node, outcome);

    expect(decisions.report(nodes)).toEqual({
      same: 1,
      otherwise: 1,
      decidedOtherwise: [{ node: 'b', would: 'x', did: 'y' }],
    });
    expect(['a', 'b'].map((node) => decisions.on(node))).toEqual([undefined, { would: 'x', did: 'y' }]);

    decisions.forget();
    expect(decisions.report(nodes)).toEqual({ same: 0, otherwise: 0, decidedOtherwise: [] });
  });

  test('go with their node', () => {
    const decisions = new OtherDecisions(recordingLogger());
    for (const node of ['a', 'b', 'c']) decisions.note(node, node === 'b' ? same : other);
    decisions.keepOnly(nodes);
    decisions.drop('a');

    const all = new Set(['a', 'b', 'c']);
    expect(decisions.report(all)).toEqual({ same: 1, otherwise: 0, decidedOtherwise: [] });
    decisions.drop('b');
    expect(decisions.report(all)).toMatchObject({ same: 0 });
  });

  test('are logged while they are news', () => {
    const log = recordingLogger();
    const decisions = new OtherDecisions(log);
    for (const outcome of [other, other, { ...other, did: 'z' }]) decisions.note('a', outcome);

    expect(log.lines.map(({ details }) => details)).toEqual([
      { node: 'a', would: 'x', did: 'y' },
      { node: 'a', would: 'x', did: 'z' },
    ]);
  });

  test('are a thing to look at where they differ', () => {
    expect([0, 1, 2].map(looksAt)).toEqual([
      [],
      ['1 node where another program decided otherwise'],
      ['2 nodes where another program decided otherwise'],
    ]);
  });
});
