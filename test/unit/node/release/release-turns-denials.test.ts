// What the grant of one release changes for nodes to which releases were denied.
import { describe, expect, test } from '@jest/globals';
import type { Holding } from '../../../../src/node/demand/holdings.ts';
import { GrantedReleases, ReleaseTurns } from '../../../../src/node/release/release-turns.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const clock = new VirtualClock();
const [bad, worse, fresh] = ['10.0.0.11', '10.0.0.12', '10.0.0.13'].map(
  (id): Holding => ({ id, interfaceId: 'eni-0', addresses: [id] }),
) as [Holding, Holding, Holding];

describe('what calls name of two nodes to which releases are denied', () => {
  const refusedTo = (isDenial: boolean): readonly [ReleaseTurns, ReleaseTurns] => {
    const granted = new GrantedReleases();
    const node = (name: string): ReleaseTurns => {
      const turns = new ReleaseTurns(granted, { clock, random: new Random(name) });
      turns.refuse([bad], [bad, worse], isDenial);
      return turns;
    };
    return [node('one'), node('other')];
  };

  test.each([
    ['a denial', true, []],
    ['another refusal', false, [bad.id, worse.id]],
  ])('is all of it again, once one is granted some: %s', (_, isDenial, expected) => {
    const [one, other] = refusedTo(isDenial);
    const before = [...other.pausing].toSorted();
    const wait = other.until - clock.monotonic();

    one.take([bad]);

    expect(before).toEqual([bad.id, worse.id]);
    expect([...other.pausing].toSorted()).toEqual(expected);
    expect(wait <= 60_000).toBe(isDenial);
  });

  test('is nothing of it where the first was granted what was never denied, or after a new denial', () => {
    const [one, other] = refusedTo(true);

    one.take([fresh]);
    const afterFresh = other.pausing.size;
    one.take([bad]);
    other.refuse([bad], [bad, worse], true);

    expect([afterFresh, other.pausing.size]).toEqual([2, 2]);
  });
});
