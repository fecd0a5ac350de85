import { describe, expect, test } from '@jest/globals';
import { isWatch, listOf, query, type Rig, rig, serve, thing } from '../reflector-rig.ts';
import { LineFeed, type Script, status } from '../scripted-transport.ts';

const red = listOf(10, thing('a', 1, 'red'));
const blue = listOf(20, thing('a', 15, 'blue'));

/** What had been delivered when `refresh` resolved. */
function refreshed({ reflector, changes }: Rig): { at: readonly string[] | undefined } {
  const seen: { at: readonly string[] | undefined } = { at: undefined };
  void reflector.refresh().then(() => {
    seen.at = [...changes];
  });
  return seen;
}

const kindsOf = ({ transport }: Rig): readonly string[] =>
  transport.requests.map((request) => (isWatch(request) ? 'watch' : 'list'));

describe('a reflector that is asked to catch up', () => {
  test('lists in place of a watch that is late, reports that, and watches on from there', async () => {
    const stage = rig(serve([red, blue], [new LineFeed()]));
    await stage.clock.advance(100);

    const seen = refreshed(stage);
    await stage.clock.advance(0);

    expect(seen.at).toEqual(['added a ->red', 'modified a red>blue']);
    expect(kindsOf(stage)).toEqual(['list', 'watch', 'list', 'watch']);
    expect(query(stage.transport.requests[3], 'resourceVersion')).toBe('20');
    expect(stage.bugs).toEqual([]);
  });

  test('does not wait for the next try after a failure', async () => {
    const stage = rig(serve([status(503, 'away'), red], [new LineFeed()]));
    await stage.clock.advance(0);

    const seen = refreshed(stage);
    await stage.clock.advance(0);

    expect(seen.at).toEqual(['added a ->red']);
  });

  test('continues until a list succeeds', async () => {
    const stage = rig(serve([red, status(503, 'away'), status(503, 'away'), blue], [new LineFeed()]));
    await stage.clock.advance(100);

    const seen = refreshed(stage);
    await stage.clock.advance(0);
    expect(seen.at).toBeUndefined();
    await stage.clock.advance(60_000);

    expect(seen.at).toEqual(['added a ->red', 'modified a red>blue']);
  });

  test('does not count a list that had started before', async () => {
    const first = Promise.withResolvers<Script>();
    const answers = [first.promise, blue];
    const stage = rig((request) => (isWatch(request) ? new LineFeed() : (answers.shift() ?? blue)));
    await stage.clock.advance(0);

    const seen = refreshed(stage);
    first.resolve(red);
    await stage.clock.advance(0);

    expect(seen.at).toEqual(['added a ->blue']);
  });

  test('lists once more when it is asked while it delivers the last object of a list', async () => {
    let seen: ReturnType<typeof refreshed> | undefined;
    const stage: Rig = rig(serve([red, blue], [new LineFeed()]), () => (seen ??= refreshed(stage)));

    await stage.clock.advance(100);

    expect(seen?.at).toEqual(['added a ->red', 'modified a red>blue']);
  });

  test('does not count that list, and the watch after it, as caused by a watch', async () => {
    const stage = rig(serve([red, blue], [new LineFeed()]));
    await stage.clock.advance(100);

    refreshed(stage);
    await stage.clock.advance(0);

    expect(stage.reflector.figures()).toMatchObject({ relists: 0, watchRestarts: 0 });
  });

  test('keeps the count of watches, also when the next one is refused', async () => {
    const watches = [new LineFeed().end(), new LineFeed(), status(503, 'away')];
    const stage = rig(serve([red, blue], watches));
    await stage.clock.advance(60_000);
    const before = stage.reflector.figures().watchRestarts;

    refreshed(stage);
    await stage.clock.advance(0);

    expect([before, stage.reflector.figures().watchRestarts]).toEqual([1, 1]);
  });

  test('does not read again what is in the known state', async () => {
    const same = listOf(20, thing('a', 1));
    const stage = rig(serve([red, same], [new LineFeed()]));
    await stage.clock.advance(100);

    const seen = refreshed(stage);
    await stage.clock.advance(0);

    expect(seen.at).toEqual(['added a ->red']);
    expect(stage.bugs).toEqual([]);
  });

  test('ends in order when nothing more is listed', async () => {
    const stage = rig(serve([red, 'silence'], [new LineFeed()]));
    await stage.clock.advance(100);

    const seen = refreshed(stage);
    await stage.clock.advance(0);
    await stage.stop();

    expect(seen.at).toBeUndefined();
    expect(stage.states.at(-1)).toEqual({ kind: 'stopped' });
  });
});
