import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { allocatorRig, type Fate, HolderModel } from './holder-model.ts';

const small = [['10.0.0.0/22', 24]] as const;
const both = [...small, ['fd00::/110', 112]] as const;

function blocksOf({ live }: HolderModel): Record<string, readonly string[]> {
  return Object.fromEntries([...live].map(([name, { blocks }]) => [name, blocks]));
}

describe('an allocator', () => {
  test('serves the oldest first, with a block of each family in one write', async () => {
    const model = new HolderModel();
    model.create('young', [], { createdAt: 9 });
    model.create('old', [], { createdAt: 1 });
    allocatorRig({ pools: both, model, workers: 1 });

    await model.clock.advance(1000);

    expect(model.writes).toEqual(['old: 10.0.0.0/24 fd00::/112', 'young: 10.0.1.0/24 fd00::1:0/112']);
  });

  test('holds what objects show before it gives out anything', async () => {
    const model = new HolderModel();
    model.create('new');
    model.create('served', ['10.0.0.0/24']);
    allocatorRig({ pools: small, model });

    await model.clock.advance(1000);

    expect(blocksOf(model)).toEqual({ new: ['10.0.1.0/24'], served: ['10.0.0.0/24'] });
  });

  test('serves the oldest that waits as soon as an object is gone', async () => {
    const { model, allocator } = allocatorRig({ pools: [['10.0.0.0/24', 24]] });
    for (const name of ['a', 'b', 'c']) model.create(name);
    await model.clock.advance(1000);

    const lack = { pool: 'default', family: 'ipv4' };
    expect(allocator.waiting()).toEqual([lack, lack]);
    expect([...model.conditions].map(([name, { reason }]) => [name, reason])).toEqual([
      ['b', 'PodCIDRsExhausted'],
      ['c', 'PodCIDRsExhausted'],
    ]);

    model.delete('a');
    await model.clock.advance(1000);

    expect(blocksOf(model)).toEqual({ b: ['10.0.0.0/24'], c: [] });
    expect([...model.conditions.keys()]).toEqual(['c']);
  });

  test.each(['denied', 'invalid', 'conflict'] as const)(
    'keeps the block of an object that somebody empties, although the write that gives it again is %s',
    async (fate) => {
      const { model } = allocatorRig({ pools: [['10.0.0.0/24', 24]] });
      model.create('a');
      await model.clock.advance(1000);
      model.fate = (name) => (name === 'a' ? fate : 'ok');
      model.change('a', { blocks: [] });
      model.create('b');
      await model.clock.advance(60_000);
      expect(blocksOf(model)).toEqual({ a: [], b: [] });

      model.fate = () => 'ok';
      model.change('a', {});
      await model.clock.advance(60_000);
      expect(blocksOf(model)).toEqual({ a: ['10.0.0.0/24'], b: [] });
    },
  );

  test('writes as soon as a busy API server allows, however often it was refused', async () => {
    const { model } = allocatorRig({ pools: small });
    model.fate = () => 'busy';
    model.create('a');
    await model.clock.advance(120_000);

    model.fate = () => 'ok';
    await model.clock.advance(1500);

    expect(blocksOf(model)).toEqual({ a: ['10.0.0.0/24'] });
  });

  test('gives both families or neither', async () => {
    const { model, ledger } = allocatorRig({
      pools: [
        ['10.0.0.0/22', 24],
        ['fd00::/112', 112],
      ],
    });
    model.create('a');
    model.create('b');

    await model.clock.advance(1000);

    expect(blocksOf(model)).toEqual({ a: ['10.0.0.0/24', 'fd00::/112'], b: [] });
    expect(ledger.figures().map(({ held }) => held)).toEqual([1, 1]);
    expect(model.conditions.get('b')?.message).toMatch(/^no IPv6 block is free/);
  });

  test.each([
    [['fd00::5:0/112'], ['10.0.0.0/24', 'fd00::5:0/112']],
    [['10.0.3.0/24'], ['10.0.3.0/24', 'fd00::/112']],
  ])('adds the family that %j lacks, IPv4 first', async (shown, blocks) => {
    const model = new HolderModel();
    model.create('a', shown);
    allocatorRig({
      pools: [
        ['10.0.0.0/22', 24],
        ['fd00::/108', 112],
      ],
      model,
    });

    await model.clock.advance(1000);

    expect(blocksOf(model)).toEqual({ a: blocks });
  });

  test('adds a missing family while the other one is in conflict', async () => {
    const model = new HolderModel();
    model.create('old', ['10.0.1.0/24', 'fd00::/112']);
    model.create('young', ['10.0.1.0/24']);
    allocatorRig({ pools: both, model });

    await model.clock.advance(1000);

    expect(blocksOf(model)['young']).toEqual(['10.0.1.0/24', 'fd00::1:0/112']);
    expect(model.conditions.get('young')).toMatchObject({
      reason: 'PodCIDRConflict',
      message: expect.stringMatching(/^its pod CIDR 10.0.1.0\/24 overlaps that of old, which is older/),
    });
    expect(model.conditions.has('old')).toBe(false);
  });

  test('ends a conflict when the older object is gone', async () => {
    const model = new HolderModel();
    model.create('old', ['10.0.1.0/25']);
    model.create('young', ['10.0.1.0/24']);
    const { ledger } = allocatorRig({ pools: small, model });
    model.delete('old');

    await model.clock.advance(1000);

    expect([...model.conditions]).toEqual([]);
    expect(ledger.figures()[0]?.held).toBe(1);
  });

  test('adds nothing to a Node that has a block', async () => {
    const model = new HolderModel(false);
    model.create('a', ['10.0.3.0/24']);
    allocatorRig({ pools: both, model });

    await model.clock.advance(1000);

    expect(model.writes).toEqual([]);
    expect(model.conditions.get('a')?.reason).toBe('PodCIDRIncomplete');
  });

  test('frees nothing for an object that is being deleted or left alone, and gives it nothing', async () => {
    const model = new HolderModel();
    model.create('a', ['10.0.0.0/24'], { isLeftAlone: true });
    model.create('b', [], { isLeftAlone: true });
    const { ledger } = allocatorRig({ pools: small, model });
    model.create('c');

    await model.clock.advance(1000);

    expect(blocksOf(model)).toEqual({ a: ['10.0.0.0/24'], b: [], c: ['10.0.1.0/24'] });
    expect(ledger.figures()[0]?.held).toBe(2);
  });

  test('writes the same block again when an object loses it', async () => {
    const { model } = allocatorRig({ pools: small });
    model.create('a');
    model.create('b');
    await model.clock.advance(1000);
    model.change('a', { blocks: [] });

    await model.clock.advance(60_000);

    expect(blocksOf(model)).toEqual({ a: ['10.0.0.0/24'], b: ['10.0.1.0/24'] });
  });

  test('gives an object that loses its block another one if somebody else shows that one by now', async () => {
    const { model } = allocatorRig({ pools: small });
    model.create('a');
    await model.clock.advance(1000);
    model.create('restored', ['10.0.0.0/24']);
    model.change('a', { blocks: [] });
    await model.clock.advance(60_000);

    expect(blocksOf(model)).toEqual({ a: ['10.0.1.0/24'], restored: ['10.0.0.0/24'] });
  });

  test.each([
    ['once it has superseded a write without an answer', () => undefined, 110],
    [
      'only at the time limit of a write without an answer that it cannot supersede',
      (model: HolderModel) => {
        model.fate = () => 'denied';
      },
      1000,
    ],
    ['at once if the object has another version', (model: HolderModel) => model.change('a', {}), 100],
    ['at once if the object is gone', (model: HolderModel) => model.delete('a'), 100],
  ])('ends %s', async (_, happen, end) => {
    const { model, allocator } = allocatorRig({ pools: small });
    model.fate = () => 'lostBefore';
    model.create('a');
    await model.clock.advance(100);
    happen(model);

    const ended = allocator.stop(new AbortController().signal).then(() => model.clock.monotonic());
    await model.clock.advance(5000);

    expect(await ended).toBe(end);
  });

  test('does not wait for writes without an answer beyond its deadline', async () => {
    const { model, allocator } = allocatorRig({ pools: small });
    model.fate = () => 'lostBefore';
    model.create('a');
    await model.clock.advance(100);

    await expect(allocator.stop(AbortSignal.abort())).resolves.toBe('unended');
  });

  test('keeps what a lost write may still give, although the next write is refused', async () => {
    const { model } = allocatorRig({ pools: [['10.0.0.0/24', 24]] });
    const fates: Fate[] = ['lostLate', 'invalid'];
    model.fate = () => fates.shift() ?? 'ok';
    model.lateness = 900;
    model.create('a');
    await model.clock.advance(800);
    expect(fates).toEqual([]);
    model.create('b');

    await model.clock.advance(60_000);

    expect(blocksOf(model)).toEqual({ a: ['10.0.0.0/24'], b: [] });
    expect(model.duplicates).toEqual([]);
  });

  test('keeps what a lost write gave, although nothing tells of it for long and the next write is denied', async () => {
    const { model } = allocatorRig({ pools: [['10.0.0.0/24', 24]] });
    const conflicts = Array.from({ length: 9 }, () => 'conflict' as const);
    const fates: Fate[] = ['lost', ...conflicts, 'denied'];
    model.fate = (name) => (name === 'a' ? (fates.shift() ?? 'ok') : 'ok');
    model.read = () => Promise.resolve({ kind: 'unavailable', message: 'no answer' });
    model.create('a');
    model.create('b');
    model.onChange = () => undefined;
    await model.clock.advance(120_000);

    expect(fates).toEqual([]);
    expect(blocksOf(model)).toEqual({ a: ['10.0.0.0/24'], b: [] });
    expect(model.duplicates).toEqual([]);
  });

  test('delays no object because the writes of others are denied', async () => {
    const { model } = allocatorRig({ pools: small });
    model.fate = (name) => (name.startsWith('bad') ? 'denied' : 'ok');
    model.create('bad');
    await model.clock.advance(1000);
    model.create('good');
    await model.clock.advance(100);
    model.create('bad-too');
    model.create('fine');
    await model.clock.advance(100);

    const served = Object.entries(blocksOf(model)).filter(([, blocks]) => blocks.length > 0);
    expect(served.map(([name]) => name)).toEqual(['good', 'fine']);
  });

  test('writes little while every write is denied', async () => {
    const { model, events } = allocatorRig({ pools: [['10.0.0.0/16', 24]], workers: 4 });
    model.fate = () => 'denied';
    for (let index = 0; index < 100; index++) model.create(`n${index}`);

    await model.clock.advance(60_000);

    expect(events.filter(({ kind }) => kind === 'written').length).toBeLessThanOrEqual(12);
  });

  test('keeps nothing of a lost write once the object shows another block', async () => {
    const { model, ledger } = allocatorRig({ pools: small });
    model.fate = () => 'lostBefore';
    model.create('a');
    await model.clock.advance(50);
    model.create('restored', ['10.0.0.0/24']);
    model.fate = () => 'ok';
    await model.clock.advance(60_000);
    model.delete('restored');

    expect(blocksOf(model)).toEqual({ a: ['10.0.1.0/24'] });
    expect(ledger.figures()[0]?.held).toBe(1);
  });

  test('gives an object that loses its block again and again at most two writes a minute', async () => {
    const { model } = allocatorRig({ pools: small });
    model.create('a');
    await model.clock.advance(1000);
    for (let second = 0; second < 1200; second++) {
      model.change('a', { blocks: [] });
      await model.clock.advance(1000);
    }

    expect(model.writes.length).toBeLessThan(60);
  });

  test('treats an object of the same name with another uid as another object', async () => {
    const { model, ledger } = allocatorRig({ pools: small });
    model.create('a');
    await model.clock.advance(1000);
    model.create('a');

    await model.clock.advance(1000);

    expect(blocksOf(model)).toEqual({ a: ['10.0.1.0/24'] });
    expect(ledger.figures()[0]?.held).toBe(1);
  });

  test.each<[Fate, string, string]>([
    ['lost', '10.0.0.0/24', '10.0.1.0/24'],
    ['lostBefore', '10.0.0.0/24', '10.0.1.0/24'],
    ['lostLate', '10.0.0.0/24', '10.0.1.0/24'],
    ['conflict', '10.0.0.0/24', '10.0.1.0/24'],
    ['denied', '10.0.2.0/24', '10.0.1.0/24'],
    ['invalid', '10.0.2.0/24', '10.0.1.0/24'],
  ])('a write that is %s gives its block to no other object', async (fate, block, other) => {
    const { model, ledger } = allocatorRig({ pools: small });
    model.fate = (name) => (name === 'a' ? fate : 'ok');
    model.create('a');
    await model.clock.advance(50);
    model.fate = () => 'ok';
    model.create('b');

    await model.clock.advance(120_000);

    expect(model.duplicates).toEqual([]);
    expect(blocksOf(model)).toEqual({ a: [block], b: [other] });
    expect(ledger.figures()[0]?.held).toBe(2);
  });

  test('says why a block cannot be written', async () => {
    const { model } = allocatorRig({ pools: small });
    model.fate = () => 'pruned';
    model.create('a');

    await model.clock.advance(1000);

    expect(model.conditions.get('a')).toEqual({
      reason: 'WriteRefused',
      message: 'its block cannot be written: the API server drops the field, because its definition lacks it',
    });
  });

  test.each([
    [['ten/8'], 'PodCIDRUnreadable', /its pod CIDR "ten\/8" cannot be read because/],
    [['010.0.0.0/24'], 'PodCIDRUnreadable', /write 10.0.0.0\/24/],
    [['192.168.0.0/24'], 'PodCIDROutsidePools', /192.168.0.0\/24 is in no pool, or larger/],
    [['10.0.0.0/8'], 'PodCIDROutsidePools', /10.0.0.0\/8 is in no pool, or larger/],
    [
      Array.from({ length: 10_000 }, (_, index) => `10.1.0.${index % 256}/32`),
      'PodCIDRUnreadable',
      /more than 16/,
    ],
  ])('reports blocks such as %.40j as %s, and serves others', async (blocks, reason, message) => {
    const model = new HolderModel();
    model.create('bad', blocks);
    model.create('good');
    allocatorRig({ pools: [['10.0.0.0/16', 24]], model });

    await model.clock.advance(1000);

    expect(model.conditions.get('bad')).toMatchObject({ reason, message: expect.stringMatching(message) });
    expect(blocksOf(model)['bad']).toEqual(blocks);
    expect(blocksOf(model)['good']).toHaveLength(1);
  });

  test.each([
    [['10.0.0.7/24'], []],
    [['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24'], [['a', 'PodCIDRUnused']]],
  ])('accepts %j as they are', async (blocks, conditions) => {
    const model = new HolderModel();
    model.create('a', blocks);
    allocatorRig({ pools: small, model });
    model.create('b');

    await model.clock.advance(1000);

    expect([...model.conditions].map(([name, { reason }]) => [name, reason])).toEqual(conditions);
    expect(model.writes).toEqual([blocks.length === 1 ? 'b: 10.0.1.0/24' : 'b: 10.0.3.0/24']);
  });

  test('writes nothing in a dry run, and says once what it would', async () => {
    const rig = allocatorRig({ pools: small });
    rig.refusal = 'dryRun';
    rig.model.create('a');
    rig.model.change('a', { error: 'x' });
    await rig.model.clock.advance(1000);

    const would = rig.events.filter(({ kind }) => kind === 'wouldAssign');
    expect(would).toMatchObject([{ blocks: ['10.0.0.0/24'] }]);
    expect(rig.model.writes).toEqual([]);

    rig.refusal = undefined;
    rig.allocator.resume();
    await rig.model.clock.advance(1000);

    expect(rig.model.writes).toEqual(['a: 10.0.0.0/24']);
  });

  test('gives out nothing while another program does, and says so', async () => {
    const rig = allocatorRig({ pools: small });
    rig.refusal = 'otherAllocator';
    rig.model.create('a');
    await rig.model.clock.advance(1000);

    expect(rig.model.writes).toEqual([]);
    expect(rig.model.conditions.get('a')?.reason).toBe('AllocatorConflict');

    rig.refusal = undefined;
    rig.allocator.resume();
    await rig.model.clock.advance(1000);

    expect(rig.model.writes).toEqual(['a: 10.0.0.0/24']);
    expect([...rig.model.conditions]).toEqual([]);
  });

  const fates = fc.constantFrom<Fate>(
    'ok',
    'ok',
    'ok',
    'conflict',
    'lost',
    'lostBefore',
    'lostLate',
    'denied',
    'invalid',
  );
  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('create', 'create', 'create', 'delete', 'replace', 'touch', 'lose', 'wait'),
      node: fc.nat(11),
      fate: fates,
    }),
    { maxLength: 60 },
  );

  test('looks only at objects that a change concerns', async () => {
    const model = new HolderModel();
    for (const name of ['a', 'b', 'c']) model.create(name, ['10.9.0.0/24']);
    const { allocator, looks } = allocatorRig({ pools: small, model });
    await model.clock.advance(1000);
    looks.length = 0;

    allocator.resume(['uid-1']);

    expect(looks).toEqual(['b']);
  });

  test('gives no block to two objects, serves whom it can and leaks nothing', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 5 }), async (doings, workers) => {
        const { model, ledger, bugs } = allocatorRig({
          pools: [
            ['10.0.0.0/21', 24],
            ['fd00::/109', 112],
          ],
          workers,
        });
        for (const { what, node, fate } of doings) {
          const name = `n${node}`;
          model.fate = () => fate;
          if (what === 'create' ? !model.live.has(name) : what === 'replace') model.create(name);
          if (what === 'delete' && model.live.has(name)) model.delete(name);
          if (what === 'touch') model.change(name, {});
          if (what === 'lose') model.change(name, { blocks: [] });
          await model.clock.advance(what === 'wait' ? 400 : 7);
        }
        model.fate = () => 'ok';
        await model.clock.advance(300_000);

        const shown = Object.values(blocksOf(model)).flat();
        expect(model.duplicates).toEqual([]);
        expect(new Set(shown).size).toBe(shown.length);
        expect(shown).toHaveLength(2 * Math.min(8, model.live.size));
        expect(ledger.figures().map(({ held }) => 2 * held)).toEqual([shown.length, shown.length]);
        expect(bugs).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
