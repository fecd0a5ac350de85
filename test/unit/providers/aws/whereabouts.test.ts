import { expect, test } from '@jest/globals';
import { describeWhereabouts, type WhereaboutsSource } from '../../../../src/providers/aws/whereabouts.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const silent = (): Promise<never> => new Promise(() => undefined);

test.each<[title: string, source: Partial<WhereaboutsSource>, words: string]>([
  ['both are known', {}, 'eu-west-1 of account 1234'],
  ['the account may not be known', { account: () => Promise.reject(new Error('no')) }, 'eu-west-1'],
  ['STS does not answer', { account: silent }, 'eu-west-1'],
  ['no account is named', { account: () => Promise.resolve(undefined) }, 'eu-west-1'],
  [
    'no region is known',
    { region: () => Promise.resolve(undefined) },
    'the configured region of account 1234',
  ],
])('region and account of AWS are logged within 2 s when %s', async (_, change, words) => {
  const clock = new VirtualClock();
  const source = {
    region: () => Promise.resolve('eu-west-1'),
    account: () => Promise.resolve('1234'),
    ...change,
  };

  const described = describeWhereabouts(source, clock);
  await clock.advance(2000);

  expect(await described).toBe(words);
});

test('a late answer about the account is aborted', async () => {
  const clock = new VirtualClock();
  let asked: AbortSignal | undefined;
  const account = (signal: AbortSignal): Promise<never> => {
    asked = signal;
    return silent();
  };

  const described = describeWhereabouts({ region: () => Promise.resolve('eu-west-1'), account }, clock);
  await clock.advance(1999);
  const before = asked?.aborted;
  await clock.advance(1);
  await described;

  expect([before, asked?.aborted]).toEqual([false, true]);
});
