import { describe, expect, test } from '@jest/globals';
import { type AllocatorRig, allocatorRig, HolderModel } from './holder-model.ts';

const small = [['10.0.0.0/22', 24]] as const;

function othersOf({ events }: AllocatorRig): readonly string[] {
  return events.flatMap((event) => (event.kind === 'othersBlocks' ? [event.holder.name] : []));
}

describe('an allocator', () => {
  test('reports blocks that it did not write, and only those', async () => {
    const rig = allocatorRig({ pools: small });
    rig.model.create('ours');
    await rig.model.clock.advance(1000);
    rig.refusal = 'paused';
    rig.model.create('theirs');
    rig.model.change('theirs', { blocks: ['10.0.3.0/24'] });

    expect(othersOf(rig)).toEqual(['theirs']);
  });

  test('reports a block that another allocator puts in the place of ours', async () => {
    const rig = allocatorRig({ pools: small });
    rig.model.create('a');
    await rig.model.clock.advance(1000);
    rig.model.change('a', { blocks: ['10.0.2.0/24'] });
    expect(othersOf(rig)).toEqual(['a']);

    rig.model.change('a', { blocks: [] });
    rig.model.change('a', { blocks: ['10.0.0.0/24'] });
    expect(othersOf(rig)).toEqual(['a']);
  });

  test('reports the very block that it was about to write, if another allocator wrote it', async () => {
    const rig = allocatorRig({ pools: small });
    for (const name of ['a', 'b']) rig.model.create(name);
    await rig.model.clock.advance(1);
    rig.model.change('a', { blocks: ['10.0.0.0/24'] });
    await rig.model.clock.advance(1000);

    expect(othersOf(rig)).toEqual(['a']);
    expect(rig.model.live.get('b')?.blocks).toEqual(['10.0.1.0/24']);
  });

  test('reports no block that a lost write of its own gave', async () => {
    const rig = allocatorRig({ pools: small });
    rig.model.fate = () => 'lostLate';
    rig.model.create('a');
    await rig.model.clock.advance(100);
    rig.model.fate = () => 'ok';
    await rig.model.clock.advance(60_000);

    expect(rig.model.live.get('a')?.blocks).toEqual(['10.0.0.0/24']);
    expect(othersOf(rig)).toEqual([]);
  });

  test('ends a conflict when the older object shows another block', async () => {
    const model = new HolderModel();
    model.create('old', ['10.0.0.0/24']);
    model.create('young', ['10.0.0.0/24']);
    allocatorRig({ pools: small, model });
    await model.clock.advance(1000);
    expect(model.conditions.get('young')?.reason).toBe('PodCIDRConflict');

    model.change('old', { blocks: ['10.0.1.0/24'] });
    await model.clock.advance(1000);
    expect([...model.conditions]).toEqual([]);
  });
});
