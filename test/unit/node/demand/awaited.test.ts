import { describe, expect, test } from '@jest/globals';
import { awaitedOn, overdueAmong, withoutAwaited } from '../../../../src/node/demand/awaited.ts';
import { awaitedAttachment, eni, view } from '../allocation-facts.ts';
import { nodeOf, type NodeParts } from '../cilium-nodes.ts';

describe('an interface that no read has shown attached yet', () => {
  test.each<[string, NodeParts, readonly string[]]>([
    ['is awaited when its CiliumNode shows nothing of it', {}, ['eni-1']],
    ['is awaited when the CiliumNode shows another one', { enis: { 'eni-0': ['10.0.0.10'] } }, ['eni-1']],
    ['is usable when the status shows it, even empty', { enis: { 'eni-1': [] } }, []],
    ['is usable when the pool names it', { pool: { '10.0.1.10': { resource: 'eni-1' } } }, []],
  ])('%s', (_, parts, expected) => {
    const node = nodeOf(parts);
    const known = { ...view([eni(0, 1), eni(1, 2)]), awaited: new Map([['eni-1', awaitedAttachment()]]) };

    const awaited = [...awaitedOn(known, node).keys()];
    const certain = withoutAwaited(known, node).interfaces.map(({ id }) => id);

    expect(awaited).toEqual(expected);
    expect(certain).toEqual(['eni-0', 'eni-1'].filter((id) => !expected.includes(id)));
  });
});

test('the view is the same object when nothing is awaited', () => {
  const known = view([eni(0, 1)]);

  expect(withoutAwaited(known, nodeOf({}))).toBe(known);
});

test('those are overdue that a read should have shown', () => {
  const awaited = new Map([
    ['eni-3', awaitedAttachment({ isOverdue: true })],
    ['eni-1', awaitedAttachment({ isOverdue: true })],
    ['eni-2', awaitedAttachment()],
  ]);

  expect(overdueAmong(awaited)).toEqual(['eni-1', 'eni-3']);
});
