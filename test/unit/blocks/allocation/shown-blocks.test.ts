import { describe, expect, test } from '@jest/globals';
import type { DryRunPlan } from '../../../../src/blocks/allocation/allocator-event.ts';
import { type AllocatorRig, allocatorRig } from './holder-model.ts';

const dual = [
  ['10.0.0.0/22', 24],
  ['fd00::/104', 112],
] as const;

function dryRig(pools: Parameters<typeof allocatorRig>[0]['pools']): AllocatorRig {
  const rig = allocatorRig({ pools });
  rig.refusal = 'dryRun';
  return rig;
}

function plansOf({ events }: AllocatorRig): readonly DryRunPlan[] {
  return events.flatMap((event) => (event.kind === 'shown' ? [event.plan] : []));
}

describe('the plan that blocks are compared with in a dry run', () => {
  test('is one for each write, however fast they follow', () => {
    const rig = dryRig(dual);
    rig.model.create('a');
    rig.model.change('a', { blocks: ['10.0.3.0/24'] });
    rig.model.change('a', { blocks: ['10.0.3.0/24', 'fd00::9:0/112'] });

    expect(plansOf(rig)).toEqual([
      { blocks: ['10.0.0.0/24', 'fd00::/112'], why: undefined },
      { blocks: ['10.0.3.0/24', 'fd00::/112'], why: undefined },
    ]);
  });

  test('is there for a block that is the very one that it would give next', () => {
    const rig = dryRig(dual);
    rig.model.create('a');
    rig.model.change('a', { blocks: ['10.0.3.0/24'] });
    rig.model.change('a', { blocks: ['10.0.3.0/24', 'fd00::/112'] });

    expect(plansOf(rig).at(-1)).toEqual({ blocks: ['10.0.3.0/24', 'fd00::/112'], why: undefined });
  });

  test('is none where another size is asked for in the same moment', async () => {
    const rig = dryRig(dual);
    rig.model.create('a');
    await rig.model.clock.advance(1);
    rig.model.change('a', { blocks: ['10.0.2.0/23'], asked: { ipv4: '23' } });

    expect(plansOf(rig)).toEqual([]);
  });

  test.each([
    ['no reason if nothing is lacking', ['10.9.0.0/24', 'fd00::/112'], undefined],
    ['the reason if its blocks cannot be read', ['x'], 'PodCIDRUnreadable'],
  ])('has %s', async (_, blocks, why) => {
    const rig = dryRig(dual);
    rig.model.create('a', blocks);
    await rig.model.clock.advance(1);
    rig.model.change('a', { blocks: [...blocks, '10.0.3.0/24'] });

    expect(plansOf(rig)).toEqual([{ blocks, why }]);
  });
});
