import { describe, expect, test } from '@jest/globals';
import { parseNodeSelector } from '../../../src/config/node-selector.ts';
import { NodeScope } from '../../../src/controller/node-scope.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const settleTime = 60_000;
const ours = { network: 'ours' };
const others = { network: 'others' };

function scopeOf(clock = new VirtualClock()): { readonly scope: NodeScope; readonly clock: VirtualClock } {
  return { scope: new NodeScope(parseNodeSelector('network=ours'), settleTime, clock), clock };
}

describe('while no Node is known', () => {
  test('a node settles that was left to others by its CiliumNode, too', async () => {
    const { scope, clock } = scopeOf();
    scope.noteCiliumNode('a', others);
    scope.noteCiliumNode('a', ours);

    const isOutside = scope.isOutside('a');
    await clock.advance(settleTime);

    expect([isOutside, scope.isOutside('a')]).toEqual([true, false]);
  });

  test('a node settles that an older release chose by its CiliumNode, once the Lease of that one is gone', () => {
    const { scope } = scopeOf();
    scope.noteCiliumNode('a', ours);
    scope.setOthers([{ lease: 'older', selector: undefined, isOlder: true }]);
    scope.setOthers([]);

    expect(scope.unserved('a')).toMatchObject({ standing: 'settling' });
  });

  test('a node whose agent copies the labels late is served as soon as its Node has them', () => {
    const { scope } = scopeOf();
    scope.noteCiliumNode('a', {});
    scope.noteNode('a', ours);

    expect(scope.isOutside('a')).toBe(false);
  });
});

test('what went while Nodes could not be read is forgotten once they can, and what stays is not', () => {
  const { scope } = scopeOf();
  for (const name of ['gone', 'kept', 'there']) scope.noteNode(name, others);
  scope.noteCiliumNode('kept', ours);

  scope.noteNodes(new Map([['there', { labels: others }]]));

  expect(scope.report()).toMatchObject({ leftToOthers: 2 });
  expect(scope.unserved('gone')).toBeUndefined();
  expect(scope.unserved('kept')).toMatchObject({ standing: 'leftToOthers' });
});
