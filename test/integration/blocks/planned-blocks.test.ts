// The plan of blocks against the blocks that nodes then get, in each mode that gives blocks to nodes.
import { describe, expect, test } from '@jest/globals';
import { type BlockPlan, blockFactsIn, planBlocks } from '../../../src/commands/plan/block-plan.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { PoolWorld } from './pool-world.ts';

function planOf({ leader }: BlockWorld, asked: { readonly add: number; readonly pods?: number }): BlockPlan {
  const facts = blockFactsIn(JSON.stringify(leader?.controller.status()));
  if (facts === undefined) throw new Error('the status says nothing to plan with');
  const plan = planBlocks(
    {
      add: asked.add,
      pods: asked.pods,
      agentAddresses: 2,
      type: undefined,
      zones: [],
      subnet: undefined,
      preAllocate: undefined,
      pool: undefined,
    },
    facts,
  );
  if (typeof plan === 'string') throw new Error(plan);
  return plan;
}

const minute = 60_000;

describe.each([
  ['cluster-pool', 'run', { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/22' }],
  ['nodeipam', 'nodeipam', { 'cluster-cidr': '10.0.0.0/22' }],
] as const)('a plan of blocks, in the mode %s', (_, command, flags) => {
  test('fits as many nodes as then get a block', async () => {
    const world = new BlockWorld({ seed: 'one', command, flags });
    world.startReplica();
    world.join('first');
    await world.clock.advance(2 * minute);
    const plan = planOf(world, { add: 5 });

    for (const name of ['a', 'b', 'c', 'd', 'e']) world.join(name);
    await world.clock.advance(2 * minute);

    expect(plan).toMatchObject({ fit: 3, blocks: 3 });
    expect(world.leader?.controller.status()).toMatchObject({
      nodes: { served: 1 + plan.fit, waiting: 5 - plan.fit },
    });
  });
});

describe('a plan of blocks, in the mode multi-pool', () => {
  test.each([
    ['that keeps the ends of blocks', {}, { each: 4, fit: 4, got: [4, 4, 4, 4, 0, 0] }],
    [
      'that gives the ends of blocks to pods',
      { allowFirstIP: true, allowLastIP: true },
      { each: 3, fit: 5, got: [3, 3, 3, 3, 3, 1] },
    ],
  ])('has the blocks that nodes get for what their agents ask, of a pool %s', async (_, ends, expected) => {
    const world = new PoolWorld();
    world.startReplica();
    await world.pool('default', { ipv4: { cidrs: ['10.0.0.0/24'], maskSize: 28 }, ...ends });
    await world.clock.advance(2 * minute);
    const plan = planOf(world, { add: 6, pods: 38 });

    // In steps of 8, as agents count: 2 of the agent, 38 of pods, and 8 free.
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) {
      await world.node(name, { default: 48 });
      await world.clock.advance(minute);
    }

    const blocks = await Promise.all(names.map(async (name) => (await world.blocks(name))['default'] ?? []));
    expect(plan).toMatchObject({ fit: expected.fit, blocks: 16, each: [{ blocks: expected.each }] });
    expect(blocks.map(({ length }) => length)).toEqual(expected.got);
  });
});
