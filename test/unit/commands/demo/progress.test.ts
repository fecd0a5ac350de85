import { describe, expect, test } from '@jest/globals';
import type { Picture } from '../../../../src/commands/demo/picture.ts';
import { patience, Progress, stateOf, wordsOf } from '../../../../src/commands/demo/progress.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

function watched(burden = () => 1) {
  const clock = new VirtualClock();
  const standstills: number[] = [];
  const progress = new Progress({ clock, burden, onStandstill: (times) => void standstills.push(times) });
  return { clock, progress, standstills };
}

describe('the progress of a demonstration', () => {
  test('has no deadline while something new happens', async () => {
    const { clock, progress, standstills } = watched();

    for (let served = 0; served < 100; served++) {
      progress.note(`${served} served`);
      await clock.advance(patience - 1);
    }

    expect(standstills).toEqual([]);
  });

  test.each([
    ['nothing is noted', () => ''],
    ['two states alternate', (check: number) => `${check % 2} waiting`],
  ])('stands still when %s', async (_, stateAt) => {
    const { clock, progress, standstills } = watched();
    progress.note(stateAt(0));
    progress.note(stateAt(1));

    for (let check = 0; check < 10; check++) {
      await clock.advance(patience / 10 - 1);
      progress.note(stateAt(check));
    }
    expect(standstills).toEqual([]);
    await clock.advance(10);

    expect(standstills).toEqual([1]);
  });

  test('counts standstills in a row, and starts anew after progress', async () => {
    const { clock, progress, standstills } = watched();

    await clock.advance(2 * patience);
    progress.note('summary');
    await clock.advance(patience);

    expect(standstills).toEqual([1, 2, 1]);
  });

  test('stands still later on a busy machine, and as soon as before once that has a core for it', async () => {
    let burden = 3.5;
    const { clock, progress, standstills } = watched(() => burden);

    await clock.advance(3 * patience);
    expect(standstills).toEqual([]);
    await clock.advance(patience);
    expect(standstills).toEqual([1]);
    await clock.advance(3 * patience);
    expect(standstills).toEqual([1, 2]);
    progress.note('served');
    burden = 1;
    await clock.advance(patience);

    expect(standstills).toEqual([1, 2, 1]);
  });

  test('waits for nothing once it is lifted', async () => {
    const { clock, progress, standstills } = watched();
    await clock.advance(patience);

    progress.lift();
    await clock.advance(5 * patience);

    expect(standstills).toEqual([1]);
  });
});

describe('the state of a picture', () => {
  const picture: Picture = {
    cloud: 'EC2',
    nodes: { total: 1, serving: 1, met: 1 },
    dualStack: { asking: 0, met: 0 },
    addresses: { held: 0, used: 0, excess: 0 },
    departures: { marked: 0, ready: 0, released: 0, refused: 0, hidden: 0, unassigned: 0 },
    pods: { served: 0, waiting: 0, maxWait: 0 },
    interfaces: { attached: 1, detached: 0 },
    subnets: [],
    calls: [],
    violations: [],
  };
  const call = { action: 'DescribeSubnets', isRead: true, calls: 1, throttled: 0 };

  test.each<[string, Partial<Picture>, readonly string[], boolean]>([
    ['a node that serves pods', { nodes: { total: 1, serving: 0, met: 1 } }, ['a'], true],
    ['a pod that waits', { pods: { served: 0, waiting: 1, maxWait: 0 } }, ['a'], true],
    ['an address that is hidden', { departures: { ...picture.departures, hidden: 1 } }, ['a'], true],
    ['a chapter that is over', {}, [], true],
    ['one more call', { calls: [call] }, ['a'], false],
    ['one more address unassigned', { departures: { ...picture.departures, unassigned: 1 } }, ['a'], false],
  ])('%s', (_, change, missing, isNew) => {
    const isOther = stateOf({ ...picture, ...change }, missing) !== stateOf(picture, ['a']);

    expect(isOther).toBe(isNew);
  });
});

test('says that the machine is too slow', () => {
  expect(wordsOf({ kind: 'standstill', missing: ['scale-up'] }, true)).toBe(
    'this machine is too slow, or the controller is stuck (its log says): nothing changed for 60 s or longer, and not everything is settled; not at their end: scale-up',
  );
});
