import { describe, expect, test } from '@jest/globals';
import { allocatorRig, type Fate, HolderModel } from './holder-model.ts';

const small = [['10.0.0.0/22', 24]] as const;

describe('an allocator whose former leader may still write', () => {
  test.each<[string, Fate, readonly string[], number]>([
    ['as soon as it has superseded them', 'ok', ['a', 'b'], 2000],
    ['once no request lasts any longer, if it may not supersede them', 'denied', [], 70_000],
  ])(
    'gives out nothing that a former leader may still write: it begins %s',
    async (_, fate, superseded, by) => {
      const model = new HolderModel();
      const late = model.create('b', [], { createdAt: 2 });
      model.create('a', [], { createdAt: 1 });
      model.create('served', ['10.0.3.0/24']);
      model.fate = () => fate;
      allocatorRig({ pools: small, model, mayFormerWrite: true });
      await model.clock.advance(15);
      expect(model.superseded).toEqual(superseded);
      model.fate = () => 'ok';
      void model.assign(late, ['10.0.0.0/24'], new AbortController().signal);
      await model.clock.advance(by);

      expect(model.duplicates).toEqual([]);
      expect(model.live.get('a')?.blocks).toHaveLength(1);
      expect(model.live.get('b')?.blocks).toHaveLength(1);
    },
  );

  test('supersedes nothing after a leader that handed over', async () => {
    const model = new HolderModel();
    model.create('a');
    allocatorRig({ pools: small, model });
    await model.clock.advance(1000);

    expect(model.superseded).toEqual([]);
    expect(model.live.get('a')?.blocks).toEqual(['10.0.0.0/24']);
  });
});
