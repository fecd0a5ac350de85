import { describe, expect, test } from '@jest/globals';
import type { Assessment } from '../../../../src/node/conditions/assessment.ts';
import { interfaceRoom } from '../../../../src/node/reconcile/node-summary.ts';
import { eni, m5Large, requirements, view } from '../allocation-facts.ts';

const prefixes = Array.from({ length: 9 }, (_, index) => `10.0.9.${index * 16}/28`);

// docs/ciliumnode-contract.md 4.3
describe('the room on the interfaces of a node', () => {
  test.each([
    ['an empty interface and two slots', [eni(0)], {}, 1, 0, 0, 2],
    ['a full one', [eni(0, 9), eni(1, 8)], {}, 1, 1, 0, 1],
    ['one that is full of prefixes', [eni(0, 0, { prefixes })], {}, 0, 1, 0, 2],
    ['one with a slot beside prefixes', [eni(0, 0, { prefixes: prefixes.slice(1) })], {}, 1, 0, 0, 2],
    ['excluded ones take slots and have no room', [eni(0), eni(1)], { firstInterfaceIndex: 1 }, 1, 0, 1, 1],
    ['reserved ones too', [eni(0), eni(1, 0, { reservedFor: 'efa' })], {}, 1, 0, 1, 1],
  ])('is counted: %s', (_, interfaces, change, candidates, full, excluded, emptySlots) => {
    const assessment = {
      kind: 'served',
      requirements: requirements(change),
      limits: m5Large,
      usage: { available: 0, used: 0, pendingPods: 0 },
      retired: [],
      retiredInUse: 0,
      marks: { preAllocate: 8, minAllocate: 0, maxAllocate: 27, maxAboveWatermark: 0 },
      needed: 8,
      wanted: 8,
      toAllocate: 8,
      ipv6: 'notAsked',
      excess: 0,
      cap: undefined,
    } as const satisfies Assessment;
    const figures = {
      protocol: 'crd',
      isVerified: true,
      isPublished: true,
      pendingPods: 0,
      condition: undefined,
      releasing: 0,
      inDeficitSince: undefined,
      warnings: [],
    } as const;

    expect(interfaceRoom({ ...figures, assessment, view: view(interfaces) })).toEqual({
      candidates,
      full,
      excluded,
      emptySlots,
    });
  });
});
