import { describe, expect, test } from '@jest/globals';
import { AllocationBackoff } from '../../../../src/node/allocate/allocation-backoff.ts';
import type { CloudTraits } from '../../../../src/providers/contract/cloud.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { failure } from '../outcomes.ts';

function rig(newInstances: CloudTraits['newInstances'] = 'knownAtOnce'): {
  clock: VirtualClock;
  setbacks: AllocationBackoff;
} {
  const clock = new VirtualClock();
  const random = new Random('setbacks');
  return { clock, setbacks: new AllocationBackoff({ clock, random }, newInstances) };
}

/** How long each of several calls that show the instance gone pauses, in ms. */
async function pausesOf(
  { clock, setbacks }: ReturnType<typeof rig>,
  count: number,
): Promise<readonly number[]> {
  const pauses: number[] = [];
  for (let call = 0; call < count; call++) {
    setbacks.add(failure('instanceGone'));
    pauses.push(setbacks.remaining);
    await clock.advance(setbacks.remaining);
  }
  return pauses;
}

describe('the allocation backoff', () => {
  test.each([
    ['the first of a passing kind', ['unknown'], undefined],
    ['the first that a person must act on', ['notAuthorized'], 'notAuthorized'],
    ['the last of several', ['unknown', 'throttled'], 'throttled'],
  ] as const)('reports %s', async (_, kinds, expected) => {
    const { clock, setbacks } = rig();

    for (const kind of kinds) {
      setbacks.add(failure(kind));
      await clock.advance(setbacks.remaining);
    }

    expect(setbacks.trouble?.kind).toBe(expected);
    setbacks.forget();
    expect(setbacks.trouble).toBeUndefined();
  });

  test('does not count one throttled call, but reports several', () => {
    const { setbacks } = rig();

    setbacks.addThrottle(failure('throttled'));
    const [isPausing, first] = [setbacks.isPausing, setbacks.trouble];
    setbacks.addThrottle(failure('throttled'));

    expect(isPausing).toBe(false);
    expect(first).toBeUndefined();
    expect(setbacks.trouble?.kind).toBe('throttled');
    setbacks.forget();
    expect(setbacks.trouble).toBeUndefined();
  });

  test('is not lengthened by what fails during a pause', async () => {
    const { clock, setbacks } = rig();

    setbacks.add(failure('unknown'));
    const first = setbacks.remaining;
    await clock.advance(100);
    setbacks.add(failure('unknown'));
    const second = setbacks.remaining;

    expect(second).toBeCloseTo(first - 100);
    expect(setbacks.isPausing).toBe(true);
    await clock.advance(first);
    expect(setbacks.isPausing).toBe(false);
    setbacks.add(failure('unknown'));
    expect(setbacks.remaining).toBeGreaterThanOrEqual(1000);
  });

  test('pauses for a minute while the instance is not running', () => {
    const { setbacks } = rig();

    setbacks.add(failure('instanceNotRunning'));

    expect(setbacks.remaining).toBe(60_000);
  });

  test('pauses long for an instance that is gone, where a new one is known at once', async () => {
    expect(await pausesOf(rig(), 3)).toEqual([60_000, 300_000, 300_000]);
  });

  test('pauses for seconds at first, where the instance may be too new to be known', async () => {
    const pauses = await pausesOf(rig('knownLate'), 10);

    const soon = pauses.findIndex((pause) => pause >= 60_000);
    expect(soon).toBeGreaterThanOrEqual(4);
    expect(Math.max(...pauses.slice(0, 3))).toBeLessThanOrEqual(4000);
    expect(pauses.slice(soon, soon + 3)).toEqual([60_000, 300_000, 300_000]);
  });

  test('pauses long for an instance that was known', async () => {
    const known = rig('knownLate');
    known.setbacks.forget();

    expect(await pausesOf(known, 2)).toEqual([60_000, 300_000]);
  });

  test('pauses after a bug, and does not report it as a condition', () => {
    const { setbacks } = rig();

    setbacks.add();

    expect([setbacks.isPausing, setbacks.trouble]).toEqual([true, undefined]);
  });
});
