import { describe, expect, test } from '@jest/globals';
import { find, tilesOf } from '../../../page/tiles.ts';

const bare = { state: 'leading', identity: 'controller-1', paused: [] };

describe('the tiles of a report', () => {
  test('stand by state, the worst first, in the order of their numbers', () => {
    const nodeNames = {
      satisfied: ['n-10', 'n-9'],
      in_deficit: ['n-2'],
      leftAlone: ['n-4'],
      blocked: ['n-1'],
    };

    const states = tilesOf({ ...bare, nodeNames });

    expect(states.map(({ state, tiles }) => [state, tiles.map(({ node }) => node)])).toEqual([
      ['blocked', ['n-1']],
      ['in deficit', ['n-2']],
      ['satisfied', ['n-9', 'n-10']],
      ['left alone', ['n-4']],
    ]);
  });

  test.each([
    ['blocked', undefined, 'n: blocked', 'bad'],
    ['in_deficit', undefined, 'n: in deficit', 'doubtful'],
    ['in_deficit', 'SubnetsExhausted', 'n: in deficit: SubnetsExhausted: add one', 'bad'],
    ['waiting', 'PodCIDRsExhausted', 'n: waiting: PodCIDRsExhausted: add one', 'bad'],
    ['unknown', undefined, 'n: unknown', 'doubtful'],
    ['satisfied', undefined, 'n: satisfied', 'good'],
    ['served', 'MaskSizeIgnored', 'n: served: MaskSizeIgnored: add one', 'doubtful'],
  ])('in state %s with reason %s are told apart', (state, reason, words, style) => {
    const inDeficit = [{ name: 'n', reason, why: 'add one' }];

    const [first] = tilesOf({ ...bare, nodeNames: { [state]: ['n'] }, inDeficit });

    expect(first?.tiles).toEqual([{ node: 'n', words, style }]);
  });

  test('that are well stand apart from those with a warning, and have the worst of several reasons', () => {
    const report = {
      ...bare,
      nodeNames: { satisfied: ['a', 'b'] },
      inDeficit: [{ name: 'b', reason: 'First' }],
      warnings: [{ node: 'b', reason: 'Second' }],
    };

    expect(tilesOf(report)).toEqual([
      {
        state: 'satisfied, with a warning',
        tiles: [{ node: 'b', words: 'b: satisfied: First', style: 'doubtful' }],
      },
      { state: 'satisfied', tiles: [{ node: 'a', words: 'a: satisfied', style: 'good' }] },
    ]);
  });

  test('are none where the report names no nodes', () => {
    expect(tilesOf(bare)).toEqual([]);
  });
});

describe('a search', () => {
  const names = ['b-1', 'a-1', 'a-10', 'a-11', 'c-a-1'];

  test.each([
    ['', [], undefined],
    ['  ', [], undefined],
    ['z', [], undefined],
    ['A-1', ['a-1', 'a-10', 'a-11', 'c-a-1'], 'a-1'],
    ['a-', ['a-1', 'a-10', 'a-11', 'c-a-1'], undefined],
    ['10', ['a-10'], 'a-10'],
    ['-1', names, undefined],
  ])('for %j finds nodes by a part of their name', (text, shown, only) => {
    expect(find(text, names)).toEqual({ shown, more: 0, only });
  });

  test('counts the matches that it does not show', () => {
    const many = Array.from({ length: 25 }, (_, index) => `node-${index}`);

    expect(find('node', many)).toMatchObject({ shown: many.slice(0, 10), more: 15 });
  });
});
