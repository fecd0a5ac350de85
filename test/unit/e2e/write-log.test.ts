import { describe, expect, test } from '@jest/globals';
import {
  changedByHeadwater,
  type LoggedWrite,
  membersOfOthers,
  misgivenBlocks,
} from '../../e2e/rig/write-log.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';

/** Writes in that order, each as who wrote which node, and the object after it. */
function log(
  ...writes: readonly (readonly [by: string, node: string, object: JsonObject])[]
): readonly LoggedWrite[] {
  return writes.map(([by, node, object], index) => ({
    at: index,
    user: `system:serviceaccount:kube-system:${by}`,
    program: by,
    node,
    object: { ...object, metadata: { name: node, resourceVersion: String(index + 9) } },
  }));
}

const held = (...podCIDRs: readonly string[]): JsonObject => ({ spec: { ipam: { podCIDRs } } });
const pooled = (...cidrs: readonly string[]): JsonObject => ({
  spec: { ipam: { pools: { allocated: [{ pool: 'default', cidrs }] } } },
});

describe('writes of blocks', () => {
  test.each<[string, readonly LoggedWrite[], readonly string[]]>([
    ['that give each node its own are fine', log(['a', 'n1', held('x')], ['b', 'n2', held('y')]), []],
    ['that move a block into a pool are fine', log(['a', 'n1', held('x')], ['b', 'n1', pooled('x')]), []],
    [
      'that take one away are found, although it comes back',
      log(['a', 'n1', held('x')], ['b', 'n1', held()], ['a', 'n1', held('x')]),
      ['b took x from n1'],
    ],
    [
      'that give one to two nodes are found, in whatever mode',
      log(['a', 'n1', { spec: { podCIDRs: ['x'] } }], ['b', 'n2', pooled('x')]),
      ['b gave n2 a block of another one: x'],
    ],
  ])('%s', (_, writes, found) => {
    expect(misgivenBlocks(writes)).toEqual(found);
  });
});

describe('writes of what others have written', () => {
  const enis = (zones: Readonly<Record<string, string>>): JsonObject => ({
    status: { eni: { enis: Object.fromEntries(Object.entries(zones).map(([id, zone]) => [id, { zone }])) } },
  });
  const member = { section: 'eni', path: ['zone'] };

  test('in an interface are found, but for those of interfaces that come and go', () => {
    const writes = log(
      ['operator', 'n1', enis({ e1: 'a', e2: 'a' })],
      ['headwater', 'n1', enis({ e1: 'a', e3: 'a' })],
      ['headwater', 'n1', enis({ e1: 'b' })],
      ['operator', 'n1', enis({ e1: 'c' })],
    );

    expect(membersOfOthers(writes, member)).toEqual({ kept: 1, changed: ['n1: e1: "a" became "b"'] });
  });

  test('elsewhere are found', () => {
    const of = (text: string): JsonObject => ({ status: { ipam: { used: { text } } } });
    const writes = log(['operator', 'n1', of('a')], ['headwater', 'n1', of('b')]);

    expect(changedByHeadwater(writes, {})).toHaveLength(1);
    expect(changedByHeadwater(writes, { statusIpam: ['used'] })).toEqual([]);
  });
});
