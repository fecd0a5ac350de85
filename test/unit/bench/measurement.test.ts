import { describe, expect, test } from '@jest/globals';
import type { Figure } from '../../../bench/figure.ts';
import { measureAll } from '../../../bench/measurement.ts';
import { Scenarios } from '../../../bench/scenarios/scenarios.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';

const figure = (name: string, measure: Figure['measure']): Figure => ({
  name,
  title: `the title of ${name}`,
  unit: '',
  limit: 1,
  bound: 'atMost',
  scenario: '',
  measure,
});

const fails = (): Promise<never> => Promise.reject(new Error('the controller ended'));

function harness(interrupt = new AbortController()) {
  const said: string[] = [];
  const { signal } = interrupt;
  const parts = { clock, signal, say: (text: string) => void said.push(text), profiles: undefined };
  return { parts, said, scenarios: new Scenarios(parts) };
}

describe('measureAll', () => {
  test('goes on after a figure that cannot be measured', async () => {
    const { parts, said, scenarios } = harness();
    const good = figure('good', () => Promise.resolve({ measured: 1, details: '' }));

    const outcomes = await measureAll([figure('bad', fails), good], scenarios, parts);

    expect(outcomes.map(({ kind, figure: { name } }) => `${name} ${kind}`)).toEqual([
      'bad failed',
      'good measured',
    ]);
    expect(outcomes[0]).toMatchObject({ why: 'the controller ended' });
    expect(said).toEqual(['[1/2] the title of bad', '[2/2] the title of good']);
  });

  test('ends with the interruption, which no figure has caused', async () => {
    const interrupt = new AbortController();
    const { parts, scenarios } = harness(interrupt);
    const interrupted = figure('interrupted', () => {
      interrupt.abort(new Error('interrupted by SIGINT'));
      return fails();
    });

    await expect(measureAll([interrupted], scenarios, parts)).rejects.toThrow('interrupted by SIGINT');
  });

  test('plays a scenario once for all figures that are read from it', async () => {
    const { parts, scenarios } = harness();
    let played = 0;
    const scenario = (): Promise<number> => Promise.resolve(++played);
    const read: Figure['measure'] = async (all) => ({
      measured: await all.played('plan', scenario),
      details: '',
    });

    const outcomes = await measureAll([figure('first', read), figure('second', read)], scenarios, parts);

    expect(outcomes).toMatchObject([{ reading: { measured: 1 } }, { reading: { measured: 1 } }]);
  });
});
