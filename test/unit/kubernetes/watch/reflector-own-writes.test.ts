import { describe, expect, test } from '@jest/globals';
import { event, isWatch, listOf, rig, serve, thing } from '../reflector-rig.ts';
import { LineFeed, type Script, status } from '../scripted-transport.ts';

describe('a reflector next to writes of our own', () => {
  test('applies the answer to an own write when it is newer, and treats its echo as no change', async () => {
    const feed = new LineFeed();
    const { clock, reflector, changes } = rig(serve([listOf(10, thing('a', 9, 'red'))], [feed]));
    await clock.advance(10);

    reflector.observe(thing('a', 100, 'blue'));
    reflector.observe(thing('a', 99, 'stale'));
    reflector.observe(thing('unknown', 101, 'red'));
    feed.push(event('MODIFIED', thing('a', 50, 'between')), event('MODIFIED', thing('a', 100, 'blue')));
    feed.push(event('MODIFIED', thing('a', 110, 'green')));
    await clock.advance(10);

    expect(changes.slice(1)).toEqual(['modified a red>blue', 'modified a blue>green']);
  });

  test('does not restore by the answer to a write what was deleted since', async () => {
    const feed = new LineFeed();
    const { clock, reflector } = rig(serve([listOf(10, thing('a', 9, 'red'))], [feed]));
    await clock.advance(10);
    feed.push(event('DELETED', thing('a', 12, 'red')));
    await clock.advance(10);

    reflector.observe(thing('a', 11, 'blue'));

    expect([...reflector.objects]).toEqual([]);
  });

  test('ignores a deletion older than what is known, because the object came back', async () => {
    const feed = new LineFeed();
    const { clock, reflector } = rig(serve([listOf(10, thing('a', 9, 'red'))], [feed]));
    await clock.advance(10);

    reflector.observe(thing('a', 14, 'blue'));
    feed.push(event('DELETED', thing('a', 12, 'red')), event('ADDED', thing('a', 13, 'red')));
    await clock.advance(10);

    expect([...reflector.objects]).toEqual([['a', 'blue']]);
  });

  test('undoes no write that was made during a list, but otherwise applies the list', async () => {
    const slow = Promise.withResolvers<Script>();
    let lists = 0;
    const { clock, reflector } = rig((request) => {
      if (isWatch(request)) return lists === 1 ? status(410, 'expired') : new LineFeed();
      return ++lists === 1
        ? listOf(10, thing('written', 9, 'red'), thing('restored', 900, 'red'))
        : slow.promise;
    });
    await clock.advance(1000);

    reflector.observe(thing('written', 30, 'ours'));
    slow.resolve(listOf(20, thing('written', 15, 'theirs'), thing('restored', 7, 'older')));
    await clock.advance(10);

    expect(reflector.objects.get('written')).toBe('ours');
    expect(reflector.objects.get('restored')).toBe('older');
  });
});
