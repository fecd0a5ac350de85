import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { firingTimes } from './rig/firing-times.ts';
import { epoch, type Played, played } from './rig/played-stages.ts';
import { shippedRules } from './rig/shipped.ts';
import { fillingSubnet, type Moments } from './stages/filling-subnet.ts';

const { signal } = new AbortController();
/** Until then, the range that an alert reads is incomplete, in seconds. */
const begin = 45 * 60;

const moments: Moments = { secondSubnet: 0, podsGone: 0, end: 0 };
let story: Played;
/** By alert, the virtual minutes at which it fires. */
let firing: ReadonlyMap<string, readonly number[]>;

beforeAll(async () => {
  story = await played([fillingSubnet(moments)], { signal });
  const period = { start: epoch + begin, end: story.end };
  const fired = await Promise.all(
    shippedRules().map(async (rule) => {
      const times = await firingTimes(story, rule, period);
      return [rule.alert, [...times.values()].flat()] as const;
    }),
  );
  firing = new Map(fired);
});

afterAll(() => story.server.stop());

function first(alert: string): number {
  return firing.get(alert)?.[0] ?? Infinity;
}

function last(alert: string): number {
  return firing.get(alert)?.at(-1) ?? -Infinity;
}

describe('a subnet that fills up', () => {
  test('is predicted, then visible, then felt, hours apart', () => {
    const [foretold, seen, felt] = [
      first('HeadwaterSubnetFullWithin24Hours'),
      first('HeadwaterSubnetNearlyFull'),
      first('HeadwaterNodesInDeficit'),
    ];

    expect(foretold).toBeLessThan(seen - 3600);
    expect(seen).toBeLessThan(felt - 900);
    expect(felt).toBeLessThan(moments.secondSubnet);
  });

  test('pages once pods wait, and not before', () => {
    expect(first('HeadwaterPodsPending')).toBeGreaterThanOrEqual(first('HeadwaterSubnetNearlyFull'));
    expect(first('HeadwaterPodsPending')).toBeLessThan(moments.secondSubnet);
  });

  test('clears for nodes and pods minutes after a second subnet appears', () => {
    const felt = ['HeadwaterNodesInDeficit', 'HeadwaterPodsPending', 'HeadwaterNodesBlocked'];

    expect(Math.max(...felt.map(last))).toBeLessThan(moments.secondSubnet + 300);
  });

  test('stays nearly full until pods leave it, and then every alert clears', () => {
    expect(last('HeadwaterSubnetNearlyFull')).toBeGreaterThan(moments.podsGone);
    expect(Math.max(...[...firing.keys()].map(last))).toBeLessThan(moments.podsGone + 900);
  });

  test('lets no other alert fire', () => {
    const others = [...firing].filter(([, times]) => times.length > 0).map(([alert]) => alert);

    expect(others.toSorted()).toEqual([
      'HeadwaterNodesBlocked',
      'HeadwaterNodesInDeficit',
      'HeadwaterPodsPending',
      'HeadwaterSubnetFullWithin24Hours',
      'HeadwaterSubnetNearlyFull',
    ]);
  });
});
