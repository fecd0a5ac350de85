import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { occupiedSlots, roomOn } from '../../../src/node/capacity.ts';
import { exclusionOf } from '../../../src/node/node-requirements.ts';
import {
  prefixesOf,
  type PlannedStep,
  slotsFilled,
  takenBy,
  yieldOf,
} from '../../../src/node/planned-step.ts';
import { type AllocationFacts, prepareIPAllocation } from '../../../src/node/prepare-ip-allocation.ts';
import type { NetworkInterface } from '../../../src/providers/network-interface.ts';
import { addresses, attachment } from '../providers/interfaces.ts';
import { eni, infrastructure, requirements, subnet, unreadable, view } from './allocation-facts.ts';

const subnetIds = ['subnet-1', 'subnet-2', 'subnet-3'];
const anySubnet = fc.constantFrom(...subnetIds);

const someInterface = fc
  .record({
    count: fc.nat(12),
    subnetId: anySubnet,
    state: fc.constantFrom(
      'attached' as const,
      'attached' as const,
      'attaching' as const,
      'detaching' as const,
    ),
    networkCard: fc.constantFrom(0, 0, 0, 1),
    reservedFor: fc.constantFrom(undefined, undefined, 'efa'),
    tags: fc.constantFrom({}, {}, { keep: 'out' }),
    prefixes: fc.constantFrom<string[][]>([], [], ['10.9.0.0/28']),
    securityGroupIds: fc.constantFrom<string[][]>(['sg-1'], []),
  })
  .map(
    ({ count, state, networkCard, ...rest }) =>
      (deviceIndex: number): NetworkInterface =>
        eni(deviceIndex, 0, {
          ...rest,
          addresses: addresses(count, deviceIndex),
          attachment: attachment({ id: `attach-${deviceIndex}`, deviceIndex, state, networkCard }),
        }),
  );

const interfaces = fc
  .tuple(fc.uniqueArray(fc.nat(6), { maxLength: 5 }), fc.array(someInterface, { minLength: 5, maxLength: 5 }))
  .map(([indexes, makers]) =>
    indexes.toSorted((a, b) => a - b).flatMap((index, place) => makers[place]?.(index) ?? []),
  );

const underway: fc.Arbitrary<PlannedStep> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('allocateIPs' as const, 'allocatePrefixes' as const),
    interfaceId: fc.nat(6).map((index) => `eni-${index}`),
    subnetId: anySubnet,
    count: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({
    kind: fc.constant('createInterface' as const),
    subnetId: anySubnet,
    securityGroupIds: fc.constant([]),
    deviceIndex: fc.integer({ min: 7, max: 9 }),
    count: fc.nat(9),
    prefixCount: fc.constant(0),
  }),
  fc.record({
    kind: fc.constant('createInterface' as const),
    subnetId: anySubnet,
    securityGroupIds: fc.constant([]),
    deviceIndex: fc.integer({ min: 7, max: 9 }),
    count: fc.constant(0),
    prefixCount: fc.integer({ min: 1, max: 9 }),
  }),
);

const anyFacts: fc.Arbitrary<AllocationFacts> = fc
  .record({
    interfaces,
    unreadable: fc.array(
      fc.record({ deviceIndex: fc.option(fc.nat(8), { nil: undefined }), networkCard: fc.nat(1) }),
      {
        maxLength: 2,
      },
    ),
    limits: fc.record({
      interfaces: fc.integer({ min: 1, max: 8 }),
      addressesPerInterface: fc.integer({ min: 1, max: 12 }),
      prefixes: fc.boolean(),
    }),
    node: fc.record({
      firstInterfaceIndex: fc.nat(3),
      usePrimaryAddress: fc.boolean(),
      prefixDelegation: fc.boolean(),
      nodeSubnetId: fc.constantFrom('', ...subnetIds),
      subnetIds: fc.subarray(subnetIds),
      excludeInterfaceTags: fc.constantFrom({}, { keep: 'out' }),
      securityGroupIds: fc.constantFrom<string[][]>(['sg-1'], ['sg-1'], []),
    }),
    preferNew: fc.boolean(),
    eligible: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    zones: fc.array(fc.constantFrom('us-west-1a', 'us-west-1a', 'us-west-1b'), {
      minLength: 3,
      maxLength: 3,
    }),
    free: fc.array(fc.oneof(fc.nat(3), fc.nat(60), fc.nat(300)), { minLength: 3, maxLength: 3 }),
    mostPrefixes: fc.array(fc.constantFrom(Infinity, Infinity, 0, 1, 4), { minLength: 3, maxLength: 3 }),
    wanted: fc.integer({ min: -2, max: 80 }),
    most: fc.oneof(fc.constant(Infinity), fc.integer({ min: -20, max: 100 })),
    underway: fc.array(underway, { maxLength: 3 }),
    frozen: fc.subarray(['eni-0', 'eni-1', 'eni-2'], { maxLength: 2 }),
  })
  .map(({ interfaces, unreadable: broken, node, eligible, zones, free, mostPrefixes, frozen, ...rest }) => ({
    ...rest,
    view: view(
      interfaces,
      broken.map((item, place) => unreadable({ id: `eni-x${place}`, ...item })),
    ),
    requirements: requirements(node),
    infrastructure: infrastructure(
      subnetIds.map((id, place) =>
        subnet(id, { eligible: eligible[place] ?? true, zone: zones[place] ?? 'us-west-1a' }),
      ),
    ),
    free: (id: string) => free[subnetIds.indexOf(id)] ?? 0,
    mostPrefixes: (id: string) => mostPrefixes[subnetIds.indexOf(id)] ?? 0,
    frozen: new Set(frozen),
    most: Infinity,
    orphans: { read: true, fit: [], unclear: [] },
  }));

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Slots of an interface that the steps fill. */
function addedTo(id: string, steps: readonly PlannedStep[]): number {
  return sum(steps.map((step) => slotsFilled(step, id)));
}

function bringsPrefixes(step: PlannedStep): boolean {
  return prefixesOf(step) > 0;
}

function creations(steps: readonly PlannedStep[]): (PlannedStep & { kind: 'createInterface' })[] {
  return steps.filter((step) => step.kind === 'createInterface');
}

function isUsable(
  item: NetworkInterface,
  { requirements: asked, frozen, infrastructure: known }: AllocationFacts,
): boolean {
  return (
    exclusionOf(item, asked) === undefined &&
    !frozen.has(item.id) &&
    item.attachment?.state === 'attached' &&
    known.subnets.get(item.subnetId)?.eligible === true
  );
}

function check(claim: (given: AllocationFacts, steps: readonly PlannedStep[]) => void): void {
  fc.assert(
    fc.property(anyFacts, (given) => {
      claim(given, prepareIPAllocation(given).steps);
    }),
    { numRuns: 500 },
  );
}

describe('a plan, whatever the facts,', () => {
  test('brings what is wanted and not under way, or tells how much it does not', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const { steps, shortfall } = prepareIPAllocation(given);

        const brought = sum(steps.map((step) => yieldOf(step, given.requirements)));
        const coming = sum(given.underway.map((step) => yieldOf(step, given.requirements)));
        const missing = Math.max(0, Math.min(given.wanted, given.most) - coming);
        const surplus = brought + shortfall - missing;
        expect(shortfall).toBeGreaterThanOrEqual(0);
        // A whole prefix for a need of one, beside the primary address of its interface.
        expect(surplus).toBeGreaterThanOrEqual(0);
        expect(surplus).toBeLessThanOrEqual(steps.some(bringsPrefixes) ? 16 : 0);
        if (surplus > 0) expect(shortfall).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  test('never brings more than may be had', () => {
    check((given, steps) => {
      const brought = sum(steps.map((step) => yieldOf(step, given.requirements)));
      const coming = sum(given.underway.map((step) => yieldOf(step, given.requirements)));

      expect(brought).toBeLessThanOrEqual(Math.max(0, given.most - coming));
    });
  });

  test('asks for prefixes only where they are to be had', () => {
    check((given, steps) => {
      const { limits, requirements: asked, mostPrefixes, free } = given;
      for (const step of steps.filter(bringsPrefixes)) {
        expect(limits.prefixes && asked.prefixDelegation).toBe(true);
        expect(prefixesOf(step)).toBeLessThanOrEqual(mostPrefixes(step.subnetId));
        expect(free(step.subnetId)).toBeGreaterThanOrEqual(takenBy(step));
        if (step.kind === 'createInterface') expect(step.count).toBe(0);
      }
    });
  });

  test('asks for single addresses only where no prefix is to be had', () => {
    check((given, steps) => {
      const { limits, requirements: asked, underway: begun, mostPrefixes } = given;
      if (!limits.prefixes || !asked.prefixDelegation || steps.every(bringsPrefixes)) return;
      const brought = sum(steps.filter(bringsPrefixes).map((step) => yieldOf(step, asked)));
      const coming = sum(begun.map((step) => yieldOf(step, asked)));
      if (given.most - coming - brought < 16) return;
      for (const item of given.view.interfaces.filter((found) => isUsable(found, given))) {
        const delegated = steps.filter(bringsPrefixes);
        const room = roomOn(item, limits) - addedTo(item.id, [...begun, ...delegated]);
        const taken = sum(delegated.filter((step) => step.subnetId === item.subnetId).map(takenBy));
        const left = given.free(item.subnetId) - taken;
        expect(room <= 0 || left < 16 || mostPrefixes(item.subnetId) === 0).toBe(true);
      }
    });
  });

  test('has no step that does nothing, and at most one with single addresses on each interface', () => {
    check((given, steps) => {
      const ids = steps.flatMap((step) => (step.kind === 'allocateIPs' ? [step.interfaceId] : []));

      expect(new Set(ids).size).toBe(ids.length);
      for (const step of steps) expect(yieldOf(step, given.requirements)).toBeGreaterThan(0);
    });
  });

  test('puts no more on an interface than it can hold', () => {
    check(({ view: seen, limits, underway: begun }, steps) => {
      for (const item of seen.interfaces) {
        const added = addedTo(item.id, steps);
        if (added > 0) expect(added + addedTo(item.id, begun)).toBeLessThanOrEqual(roomOn(item, limits));
      }
      for (const { count, prefixCount } of creations(steps)) {
        expect(count + prefixCount).toBeLessThan(limits.addressesPerInterface);
      }
    });
  });

  test('gives the instance no more interfaces than it can have, each at an index of its own', () => {
    check(({ view: seen, limits, underway: begun, requirements: asked }, steps) => {
      const made = creations(steps);
      const indexes = [
        ...made.map(({ deviceIndex }) => deviceIndex),
        ...creations(begun).map(({ deviceIndex }) => deviceIndex),
        ...[...seen.interfaces.map(({ attachment: at }) => at), ...seen.unreadable]
          .filter((at) => at?.networkCard === 0)
          .map((at) => at?.deviceIndex),
      ];
      if (made.length > 0) {
        expect(occupiedSlots(seen) + creations(begun).length + made.length).toBeLessThanOrEqual(
          limits.interfaces,
        );
      }
      for (const { deviceIndex } of made) {
        expect(deviceIndex).toBeGreaterThanOrEqual(asked.firstInterfaceIndex);
        expect(indexes.filter((index) => index === deviceIndex)).toHaveLength(1);
      }
    });
  });

  test('takes no more from a subnet than it has, and nothing from one that is not eligible', () => {
    check(({ free, infrastructure: known }, steps) => {
      for (const id of subnetIds) {
        const taken = sum(steps.filter((step) => step.subnetId === id).map(takenBy));
        expect(taken).toBeLessThanOrEqual(known.subnets.get(id)?.eligible === true ? free(id) : 0);
      }
    });
  });

  test('touches no interface that it must leave alone, and takes the subnet for what it is', () => {
    check((given, steps) => {
      for (const step of steps) {
        if (step.kind === 'createInterface') continue;
        const item = given.view.interfaces.find(({ id }) => id === step.interfaceId);
        expect(item !== undefined && isUsable(item, given)).toBe(true);
        expect(step.subnetId).toBe(item?.subnetId);
      }
    });
  });

  test('creates interfaces only once those that are there are as full as can be', () => {
    check((given, steps) => {
      if (creations(steps).length === 0 || given.preferNew) return;
      if (steps.some(bringsPrefixes)) return;
      const filling = steps.filter((step) => step.kind === 'allocateIPs');
      for (const item of given.view.interfaces.filter((found) => isUsable(found, given))) {
        const room = roomOn(item, given.limits) - addedTo(item.id, [...given.underway, ...steps]);
        const taken = sum(filling.filter((step) => step.subnetId === item.subnetId).map(takenBy));
        expect(room <= 0 || taken === given.free(item.subnetId)).toBe(true);
      }
    });
  });

  test('creates no interface that is not full unless it is the last, or its subnet had no more', () => {
    check(({ limits, free }, steps) => {
      if (steps.some(bringsPrefixes)) return;
      const made = creations(steps);
      for (const [place, step] of made.slice(0, -1).entries()) {
        const before = steps.slice(0, steps.indexOf(made[place] ?? step));
        const left =
          free(step.subnetId) - sum(before.filter((other) => other.subnetId === step.subnetId).map(takenBy));
        expect(step.count === limits.addressesPerInterface - 1 || takenBy(step) === left).toBe(true);
      }
    });
  });

  test('tells an obstacle when and only when something is short, unless it is short only for now', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const { shortfall, obstacle } = prepareIPAllocation(given);

        const waits = given.view.interfaces.some(
          (item) =>
            exclusionOf(item, given.requirements) === undefined &&
            (given.frozen.has(item.id) || item.attachment?.state !== 'attached') &&
            roomOn(item, given.limits) > 0,
        );
        const willHaveRoom = given.underway.some(
          (step) => step.kind === 'createInterface' && step.count < given.limits.addressesPerInterface - 1,
        );
        if (shortfall === 0) expect(obstacle).toBeUndefined();
        else if (!waits && !willHaveRoom) expect(obstacle).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  test('is the same each time, in whatever order subnets are known', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const subnets = new Map([...given.infrastructure.subnets].toReversed());
        const turned = { ...given, infrastructure: { ...given.infrastructure, subnets } };

        const plan = prepareIPAllocation(given);

        expect(prepareIPAllocation(given)).toEqual(plan);
        expect(prepareIPAllocation(turned)).toEqual(plan);
      }),
    );
  });
});
