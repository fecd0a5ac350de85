import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import type { Answer } from '../../../../src/providers/contract/operations.ts';
import type { Observation } from '../../../../src/providers/contract/facts.ts';
import { TrackedInstance } from '../../../../src/providers/inventory/tracked-instance.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { instance, window } from '../inventory-rig.ts';

const interfaceIds = ['eni-0', 'eni-1', 'eni-2'];
const holdings = ['10.0.1.1', '10.0.1.2', '10.0.1.3', '10.0.2.16/28'];
const everything = [...interfaceIds, ...holdings];

interface Part {
  readonly index: number;
  readonly held: readonly string[];
  readonly isChanging: boolean;
}

interface Move {
  readonly how:
    | 'refresh'
    | 'list'
    | 'give'
    | 'take'
    | 'detach'
    | 'attach'
    | 'refuse'
    | 'giveUp'
    | 'withdraw'
    | 'restore';
  readonly late: number;
  readonly ms: number;
  readonly parts: readonly Part[];
}

const part = fc.record({
  index: fc.nat(2),
  held: fc.subarray(holdings),
  isChanging: fc.boolean(),
});
const move: fc.Arbitrary<Move> = fc.record({
  how: fc.constantFrom(
    ...(['refresh', 'refresh', 'refresh', 'list', 'give', 'take', 'detach', 'attach'] as const),
    ...(['refuse', 'giveUp', 'withdraw', 'restore'] as const),
  ),
  late: fc.nat(window),
  ms: fc.nat(2 * window),
  parts: fc.uniqueArray(part, { selector: ({ index }) => index, minLength: 1 }),
});

function shown({ index, held, isChanging }: Part): NetworkInterface {
  return networkInterface({
    id: `eni-${index}`,
    primaryAddress: `10.0.0.${index + 4}`,
    addresses: held.filter((each) => !each.includes('/')),
    prefixes: held.filter((each) => each.includes('/')),
    attachment: attachment({ id: `attach-${index}`, deviceIndex: index }),
    ...(isChanging && { condition: 'changing' as const }),
  });
}

function answer(how: Move['how'], { index, held }: Part): Exclude<Answer, { kind: 'created' | 'deleted' }> {
  const at = { interfaceId: `eni-${index}`, instanceId: 'i-1' };
  const addresses = held.filter((each) => !each.includes('/'));
  switch (how) {
    case 'give':
      return { kind: 'allocated', ...at, addresses, prefixes: [] };
    case 'take':
      return { kind: 'released', ...at, holdings: held };
    case 'detach':
      return { kind: 'detached', ...at };
    case 'attach':
      return { kind: 'attached', ...at, deviceIndex: index, attachmentId: `attach-${index}` };
    default:
      return { kind: 'notFound', ...at };
  }
}

function make({ how, late, parts }: Move, tracked: TrackedInstance, now: number): void {
  const [first] = parts;
  const interfaces = parts.map(shown);
  const observations: Observation[] = interfaces.map((item) => ({ kind: 'interface', interface: item }));
  if (how === 'refresh')
    tracked.applyRefresh({
      startedAt: now - late,
      endedAt: now,
      observations: [instance(), ...observations],
      isPartial: false,
    });
  else if (how === 'list') {
    for (const each of observations) tracked.applyListed(each, now - late);
    tracked.endListing(now - late, (id) =>
      interfaces.some((item) => item.id === id) ? { instanceId: 'i-1', startedAt: now - late } : undefined,
    );
  } else if (how === 'giveUp') tracked.agentGaveUp(new Set(first?.held));
  else if (how === 'withdraw') tracked.withdrawProven(now);
  else if (how === 'restore') tracked.restoreAlso({ interfaces, pendingRelease: new Set() }, now);
  else if (first !== undefined) tracked.applyAnswer(answer(how, first), { made: undefined, endedAt: now });
}

test('what comes back on an instance changes its view', () => {
  fc.assert(
    fc.property(fc.array(move, { minLength: 4, maxLength: 40 }), (moves) => {
      const tracked = new TrackedInstance('i-1', [], window);
      let now = 1000;
      for (const each of moves) {
        now += each.ms;
        const before = tracked.view;
        const away = everything.filter((id) => !tracked.losses.isThere(id));

        make(each, tracked, now);
        const back = away.filter((id) => tracked.losses.isThere(id));

        if (back.length > 0) expect(tracked.view).not.toBe(before);
      }
    }),
    { numRuns: 1000 },
  );
});
