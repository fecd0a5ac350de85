import { describe, expect, test } from '@jest/globals';
import { type BlockPlan, blockFactsIn, planBlocks } from '../../../../src/commands/plan/block-plan.ts';
import { question } from './planned-facts.ts';

interface ShownPool {
  readonly pool: string;
  readonly family: 'ipv4' | 'ipv6';
  readonly cidr: string;
  readonly maskSize: number;
  readonly capacity: number;
  readonly held: number;
  readonly waiting: number;
}

function pool(change: Partial<ShownPool> = {}): ShownPool {
  return {
    pool: 'cluster',
    family: 'ipv4',
    cidr: '10.0.0.0/20',
    maskSize: 24,
    capacity: 16,
    held: 6,
    waiting: 0,
    ...change,
  };
}

const ipv6 = pool({ family: 'ipv6', cidr: 'fd00::/60', maskSize: 64 });
const asAsked = { blocks: 'asAsked' };

function planOf(
  asked: Parameters<typeof question>[0],
  pools: readonly ShownPool[],
  planning: object = { blocks: 'oneOfEachFamily' },
): BlockPlan | string {
  const facts = blockFactsIn(JSON.stringify({ pools, planning }));
  if (facts === undefined) throw new Error('no facts');
  return planBlocks(question({ pods: undefined, ...asked }), facts);
}

describe('a block of each family', () => {
  test('is taken until none is left', () => {
    expect(planOf({ add: 12 }, [pool()])).toMatchObject({
      fit: 10,
      blocks: 10,
      each: [{ family: 'ipv4', maskSize: 24, blocks: 1, addresses: 254 }],
      pools: [{ free: 10, taken: 10, left: 0, runsOutAfter: 10 }],
      problems: [{ reason: 'PodCIDRsExhausted', firstNode: 11, nodes: 2 }],
    });
  });

  test('is of the next network once one is full', () => {
    const plan = planOf({ add: 12 }, [pool(), pool({ cidr: '10.1.0.0/20', held: 0 })]);

    expect(plan).toMatchObject({ fit: 12, problems: [] });
    expect(typeof plan === 'string' ? [] : plan.pools.map(({ taken }) => taken)).toEqual([10, 2]);
  });

  test('is of both families, or none is', () => {
    const plan = planOf({ add: 12 }, [pool(), { ...ipv6, held: 11 }]);

    expect(plan).toMatchObject({ fit: 5, blocks: 10, problems: [{ firstNode: 6, nodes: 7 }] });
  });

  test('that is too small for the pods of a node is said', () => {
    expect(planOf({ add: 2, pods: 300 }, [pool()])).toMatchObject({
      fit: 0,
      problems: [{ reason: 'InstanceFull', nodes: 2, pods: 92 }],
    });
  });
});

describe('blocks of what agents ask for', () => {
  const mine = pool({ pool: 'default', maskSize: 28, capacity: 256, held: 0 });

  test.each<[number, number, object]>([
    [0, 2, {}],
    [4, 2, {}],
    [6, 2, {}],
    [14, 2, {}],
    [20, 3, {}],
    [20, 2, { usable: [{ pool: 'default', family: 'ipv4', addresses: 16 }] }],
  ])('for %d pods and 2 addresses of the agent are %d', (pods, blocks, more) => {
    const plan = planOf({ add: 1, pods, agentAddresses: 2 }, [mine], { ...asAsked, ...more });

    expect(plan).toMatchObject({ fit: 1, blocks, each: [{ pool: 'default', blocks }] });
  });

  test('are of the pool that is named', () => {
    const other = pool({ pool: 'other', cidr: '10.9.0.0/24', maskSize: 28, held: 14 });

    expect(planOf({ add: 3, pods: 14, pool: 'other' }, [mine, other], asAsked)).toMatchObject({
      fit: 2,
      pools: [{ pool: 'other', left: 0, runsOutAfter: 2 }],
      problems: [{ reason: 'PoolExhausted', firstNode: 3, nodes: 1 }],
    });
    expect(planOf({ pods: 1, pool: 'othr' }, [mine, other], asAsked)).toBe(
      'there is no pool "othr": name one by --pool; did you mean other?',
    );
  });
});

test.each<[string, Parameters<typeof question>[0], readonly ShownPool[], object, RegExp]>([
  ['a zone', { zones: ['a'] }, [pool()], {}, /leave out --type, --zone and --subnet$/],
  ['a pool', { pool: 'a' }, [pool()], {}, /leave out --pool$/],
  ['no pods', {}, [pool()], asAsked, /^say by --pods how many pods each node has/],
  ['no pool', {}, [], {}, /^no pool has blocks here/],
])('a question with %s is refused', (_, asked, pools, planning, problem) => {
  expect(planOf(asked, pools, { blocks: 'oneOfEachFamily', ...planning })).toMatch(problem);
});

test.each<[string, Partial<ShownPool>]>([
  ['a CIDR that is none', { cidr: '10.0.0.0' }],
  ['a CIDR of another family', { family: 'ipv6' }],
  ['a capacity of other blocks', { capacity: 17 }],
  ['more than all blocks held', { held: 17 }],
  ['blocks that are larger than their network', { maskSize: 16 }],
  ['a number that is none', { held: -1 }],
])('a report is not taken with %s', (_, change) => {
  expect(
    blockFactsIn(JSON.stringify({ pools: [pool(change)], planning: { blocks: 'oneOfEachFamily' } })),
  ).toBeUndefined();
});
