// What `headwater explain` prints of a node in the modes that give blocks to nodes.
import { describe, expect, test } from '@jest/globals';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { explained, toldOf } from '../../support/explained.ts';
import { PoolWorld } from './pool-world.ts';

const flagsOf = {
  'cluster-pool': { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/23' },
  nodeipam: { 'cluster-cidr': '10.0.0.0/23' },
} as const;

async function worldOf(mode: keyof typeof flagsOf, more: Readonly<Record<string, string>> = {}) {
  const command = mode === 'nodeipam' ? 'nodeipam' : 'run';
  const world = new BlockWorld({ seed: 'one', command, flags: { ...flagsOf[mode], ...more } });
  world.startReplica();
  for (const name of ['a', 'b', 'c']) world.join(name);
  await world.clock.advance(120_000);
  return world;
}

function linesOf({ leader }: BlockWorld, name: string): readonly string[] {
  return leader === undefined ? [] : explained(leader.controller, name);
}

describe.each(['cluster-pool', 'nodeipam'] as const)('headwater explain, in the mode %s', (mode) => {
  test('of a node that has its block says which, and that it wants no other', async () => {
    const world = await worldOf(mode);

    const lines = linesOf(world, 'a');

    expect(lines[0]).toBe('a: served');
    expect(toldOf(lines, 'has')).toEqual([expect.stringMatching(/^10\.0\.[01]\.0\/24$/)]);
    expect(toldOf(lines, 'next try')).toEqual(['when it no longer has its block']);
    expect(toldOf(lines, 'reason')).toEqual([]);
  });

  test('of a node without a block says that none is left, and what brings it one', async () => {
    const world = await worldOf(mode);

    const lines = linesOf(world, 'c');

    expect(lines[0]).toBe('c: waiting');
    expect(toldOf(lines, 'reason')).toEqual(['PodCIDRsExhausted']);
    expect(toldOf(lines, 'has')).toEqual(['no block']);
    expect(toldOf(lines, 'next try')).toEqual(['when a block is free']);
    expect(toldOf(lines, 'sooner by')).toEqual(['a Node that is deleted; another CIDR for its pool']);
    expect(lines).toContainEqual(expect.stringMatching(/10\.0\.0\.0\/23 +\/24 +2 +2 +0 +1$/));
  });

  test('of a node that waits for a pause says so', async () => {
    const world = await worldOf(mode, { 'dry-run': 'true' });

    expect(toldOf(linesOf(world, 'a'), 'next try')).toEqual(['when the pause ends']);
  });

  test('names the nearest name', async () => {
    const world = await worldOf(mode);

    expect(world.leader?.controller.node('a.')).toMatchObject({ known: false });
    expect(world.leader?.controller.node('none-of-them')).not.toHaveProperty('nearest');
  });
});

test('headwater explain, in the mode multi-pool, says that the agent of a Node has not started', async () => {
  const world = new PoolWorld();
  world.startReplica();
  await world.node('a', { default: 8 });
  await world.ask('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'lonely' },
  });
  await world.clock.advance(120_000);

  const lines = linesOf(world, 'lonely');

  expect(lines[0]).toBe('lonely: awaits agent');
  expect(toldOf(lines, 'why')).toEqual([expect.stringMatching(/has not started there/)]);
  expect(toldOf(lines, 'next try')).toEqual(['when its agent creates the CiliumNode']);
});

test('headwater explain, in the mode multi-pool, says that a pool is missing', async () => {
  const world = new PoolWorld();
  world.startReplica();
  await world.node('a', { nowhere: 8 });
  await world.clock.advance(120_000);

  const lines = linesOf(world, 'a');

  expect(toldOf(lines, 'reason')).toEqual(['PoolMissing']);
  expect(toldOf(lines, 'next try')).toEqual(['when what the reason names changes']);
});
