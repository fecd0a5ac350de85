// What shares an interface with something that the cloud refuses to unassign.
import { describe, expect, test } from '@jest/globals';
import { expandBlock } from '../../../../src/providers/contract/ipv4.ts';
import type { Operation, Outcome } from '../../../../src/providers/contract/operation.ts';
import { eni } from '../allocation-facts.ts';
import { failed, lost } from '../outcomes.ts';
import { policy, ReleaseRig } from '../release-rig.ts';

const prefix = '10.9.0.16/28';
/** The earliest unassignment of what is in excess from the start, in ms. */
const due = policy.delay + policy.hiddenFor;
/** An agent that has dropped everything but one address. */
const dropping = { protocol: 'multi-pool', holds: ['10.0.0.10'] } as const;

describe('an address that the cloud refuses to unassign for good', () => {
  /** The first call that names it ends like this, and each later one is refused. */
  function refusing(refused: string, first: Outcome): (operation: Operation) => Outcome | undefined {
    const ends = [first];
    return (operation) =>
      JSON.stringify(operation).includes(`"${refused}"`) ? (ends.pop() ?? failed('invalid')) : undefined;
  }

  test.each([
    ['one of several was missing', failed('notAssigned')],
    ['the answer about several was lost', lost],
  ])('leaves their turn to the others of its interface after %s', async (_, first) => {
    const rig = new ReleaseRig({
      ...dropping,
      interfaces: [eni(0, 4)],
      outcome: refusing('10.0.0.11', first),
    });

    await rig.run(due + 300_000);

    expect(rig.held).toEqual(['10.0.0.10', '10.0.0.11']);
    expect(rig.shown).toEqual(['10.0.0.10']);
  });

  test('leaves its turn to an address when it is a prefix', async () => {
    const outcome = refusing(prefix, lost);
    const rig: ReleaseRig = new ReleaseRig({
      ...dropping,
      interfaces: [eni(0, 2, { prefixes: [prefix] })],
      outcome: (operation) => {
        const isEarly = rig.clock.monotonic() < due + 60_000;
        return operation.kind === 'releaseIPs' && isEarly ? failed('throttled') : outcome(operation);
      },
    });

    await rig.run(due + 300_000);

    expect(rig.held).toEqual(['10.0.0.10', ...expandBlock(prefix)].toSorted());
    expect(rig.shown).toEqual(['10.0.0.10']);
  });
});

test.each([
  ['perInstance', ['10.0.0.10', '10.0.0.11']],
  ['perInterface', ['10.0.0.10']],
] as const)(
  'a lost answer keeps the rest shown until a read shows what became of the call, if it changes all: %s',
  async (change, shown) => {
    const outcome = (_: Operation, number: number): Outcome => (number === 0 ? lost : failed('throttled'));
    const holds = ['10.0.0.10', '10.0.0.11'];
    const rig = new ReleaseRig({ ...dropping, holds, interfaces: [eni(0, 3)], change, outcome });
    await rig.run(due);
    rig.holds.delete('10.0.0.11');
    rig.keep = 1;

    await rig.run(policy.delay + 120_000);
    const before = rig.shown;
    rig.refresh();
    await rig.run(120_000);

    expect(before).toEqual(shown);
    expect(rig.shown).toEqual(['10.0.0.10']);
  },
);

test.each([
  ['perInstance', true],
  ['perInterface', false],
] as const)(
  'an unassignment is repeated once more addresses are hidden as decided, if it changes all: %s',
  async (change, waits) => {
    const outcome = (_: Operation, number: number): Outcome => (number === 0 ? lost : failed('throttled'));
    const holds = ['10.0.0.10', '10.0.0.11'];
    const rig = new ReleaseRig({ ...dropping, holds, interfaces: [eni(0, 3)], change, outcome });
    await rig.run(due + 60_000);
    rig.refresh();
    rig.holds.delete('10.0.0.11');
    rig.keep = 1;
    await rig.run(policy.delay - 1000);

    rig.published = false;
    await rig.run(2000);
    const leaving = rig.releases.isStriking;
    const before = rig.calls.length;
    await rig.run(120_000);
    const during = rig.calls.length;
    rig.published = true;
    await rig.run(120_000);

    expect(leaving).toBe(true);
    expect(during === before).toBe(waits);
    expect(rig.calls.length).toBeGreaterThan(during);
  },
);
