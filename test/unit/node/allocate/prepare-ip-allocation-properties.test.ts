import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { occupiedSlots, roomOn } from '../../../../src/node/demand/capacity.ts';
import { exclusionOf } from '../../../../src/node/demand/node-requirements.ts';
import {
  prefixesOf,
  type PlannedStep,
  slotsFilled,
  subnetAddressesUsed,
  podAddressesGained,
} from '../../../../src/node/allocate/planned-step.ts';
import { prepareIPAllocation } from '../../../../src/node/allocate/prepare-ip-allocation.ts';
import { allScopesOf, keyOf, type RefusedScope } from '../../../../src/node/allocate/refused-scope.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { addresses, attachment } from '../../providers/interfaces.ts';
import { traits } from '../../providers/scripted-implementation.ts';
import {
  eni,
  type FactsInARow,
  grouped,
  infrastructure,
  requirements,
  subnet,
  unreadable,
  view,
} from '../allocation-facts.ts';
import { failure } from '../outcomes.ts';

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

const stepInFlight: fc.Arbitrary<PlannedStep> = fc.oneof(
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

/** Keys of scopes that may be blocked. */
const refusable = [
  'action assign',
  'action create',
  'interface eni-0',
  'interface eni-1',
  'subnet subnet-1',
  'attachment subnet-2 subnet-1',
  'newInterfaces i-1',
  'prefixes i-1',
];

/** The plan with nothing blocked. */
function isFree({ refusalOf }: FactsInARow, item: NetworkInterface): boolean {
  const scopes: readonly RefusedScope[] = [
    { kind: 'action', action: 'assign' },
    { kind: 'interface', interfaceId: item.id },
    { kind: 'prefixes', instanceId: 'i-1' },
  ];
  return scopes.every((scope) => refusalOf(scope) === undefined);
}

const anyFacts: fc.Arbitrary<FactsInARow> = fc
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
    ipv6: fc.constantFrom('needless', 'wanted', 'held'),
    eligible: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    zones: fc.array(fc.constantFrom('us-west-1a', 'us-west-1a', 'us-west-1b'), {
      minLength: 3,
      maxLength: 3,
    }),
    free: fc.array(fc.oneof(fc.nat(3), fc.nat(60), fc.nat(300)), { minLength: 3, maxLength: 3 }),
    maxFor: fc.constantFrom(Infinity, Infinity, 1, 5),
    maxPrefixes: fc.array(fc.constantFrom(Infinity, Infinity, 0, 1, 4), { minLength: 3, maxLength: 3 }),
    wanted: fc.integer({ min: -2, max: 80 }),
    max: fc.oneof(fc.constant(Infinity), fc.integer({ min: -20, max: 100 })),
    stepsInFlight: fc.array(stepInFlight, { maxLength: 3 }),
    frozen: fc.subarray(['eni-0', 'eni-1', 'eni-2'], { maxLength: 2 }),
    refused: fc.oneof(fc.constant<string[]>([]), fc.subarray(refusable)),
    due: fc.boolean(),
  })
  .map(({ interfaces, unreadable: broken, node, eligible, zones, free, maxPrefixes, ...rest }) => ({
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
    maxPrefixes: (id: string) => maxPrefixes[subnetIds.indexOf(id)] ?? 0,
    maxFor: () => rest.maxFor,
    frozen: new Set(rest.frozen),
    refusalOf: (scope: RefusedScope) =>
      rest.refused.includes(keyOf(scope))
        ? { scope, failure: failure('notAuthorized'), failures: 1, isDue: rest.due, isOfOthers: false }
        : undefined,
    traits,
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
  { requirements: asked, frozen, infrastructure: known }: FactsInARow,
): boolean {
  return (
    exclusionOf(item, asked) === undefined &&
    !frozen.has(item.id) &&
    item.attachment?.state === 'attached' &&
    known.subnets.get(item.subnetId)?.eligible === true
  );
}

function check(claim: (given: FactsInARow, steps: readonly PlannedStep[]) => void): void {
  fc.assert(
    fc.property(anyFacts, (given) => {
      claim(given, prepareIPAllocation(grouped(given)).steps);
    }),
    { numRuns: 500 },
  );
}

describe('a plan, whatever the facts,', () => {
  test('brings what is wanted and not in flight, or says how much it does not bring', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const { steps, unmet } = prepareIPAllocation(grouped(given));

        const brought = sum(steps.map((step) => podAddressesGained(step, given.requirements)));
        const coming = sum(given.stepsInFlight.map((step) => podAddressesGained(step, given.requirements)));
        const missing = Math.max(0, Math.min(given.wanted, given.max) - coming);
        const surplus = brought + unmet - missing;
        expect(unmet).toBeGreaterThanOrEqual(0);
        // A whole prefix for one needed address, and the primary address of its interface.
        expect(surplus).toBeGreaterThanOrEqual(0);
        expect(surplus).toBeLessThanOrEqual(steps.some(bringsPrefixes) ? 16 : 0);
        if (surplus > 0) expect(unmet).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  test('never brings more than the maximum', () => {
    check((given, steps) => {
      const brought = sum(steps.map((step) => podAddressesGained(step, given.requirements)));
      const coming = sum(given.stepsInFlight.map((step) => podAddressesGained(step, given.requirements)));

      expect(brought).toBeLessThanOrEqual(Math.max(0, given.max - coming));
    });
  });

  test('requests prefixes only where they are available', () => {
    check((given, steps) => {
      const { limits, requirements: asked, maxPrefixes, free } = given;
      for (const step of steps.filter(bringsPrefixes)) {
        expect(limits.prefixes && asked.prefixDelegation).toBe(true);
        expect(prefixesOf(step)).toBeLessThanOrEqual(maxPrefixes(step.subnetId));
        // One may come out of a space that no count shows.
        const counted = subnetAddressesUsed(step) - (prefixesOf(step) === 1 ? 16 : 0);
        expect(free(step.subnetId)).toBeGreaterThanOrEqual(counted);
        if (step.kind === 'createInterface') expect(step.count).toBe(0);
      }
    });
  });

  test('requests single addresses only where no prefix is available', () => {
    check((given, steps) => {
      const { limits, requirements: asked, stepsInFlight: started, maxPrefixes } = given;
      if (!limits.prefixes || !asked.prefixDelegation || steps.every(bringsPrefixes)) return;
      const brought = sum(steps.filter(bringsPrefixes).map((step) => podAddressesGained(step, asked)));
      const coming = sum(started.map((step) => podAddressesGained(step, asked)));
      if (given.max - coming - brought < 16) return;
      for (const item of given.view.interfaces.filter((found) => isUsable(found, given))) {
        const delegated = steps.filter(bringsPrefixes);
        const room = roomOn(item, limits) - addedTo(item.id, [...started, ...delegated]);
        const taken = sum(
          delegated.filter((step) => step.subnetId === item.subnetId).map(subnetAddressesUsed),
        );
        const left = given.free(item.subnetId) - taken;
        const wish = {
          kind: 'allocatePrefixes',
          interfaceId: item.id,
          subnetId: item.subnetId,
          count: 1,
        } as const;
        const place = { instanceId: given.view.id, nodeSubnetId: asked.nodeSubnetId };
        const isRefused = allScopesOf(wish, place).some((scope) => given.refusalOf(scope) !== undefined);
        expect(room <= 0 || left < 16 || maxPrefixes(item.subnetId) === 0 || isRefused).toBe(true);
      }
    });
  });

  test('has no step without effect, and at most one with single addresses on each interface', () => {
    check((given, steps) => {
      const ids = steps.flatMap((step) => (step.kind === 'allocateIPs' ? [step.interfaceId] : []));

      expect(new Set(ids).size).toBe(ids.length);
      for (const step of steps) expect(podAddressesGained(step, given.requirements)).toBeGreaterThan(0);
    });
  });

  test('puts no more on an interface than fits', () => {
    check(({ view: seen, limits, stepsInFlight: started }, steps) => {
      for (const item of seen.interfaces) {
        const added = addedTo(item.id, steps);
        if (added > 0) expect(added + addedTo(item.id, started)).toBeLessThanOrEqual(roomOn(item, limits));
      }
      for (const { count, prefixCount } of creations(steps)) {
        expect(count + prefixCount).toBeLessThan(limits.addressesPerInterface);
      }
    });
  });

  test('gives the instance no more interfaces than it can have, each at an index of its own', () => {
    check(({ view: seen, limits, stepsInFlight: started, requirements: asked }, steps) => {
      const made = creations(steps);
      const indexes = [
        ...made.map(({ deviceIndex }) => deviceIndex),
        ...creations(started).map(({ deviceIndex }) => deviceIndex),
        ...[...seen.interfaces.map(({ attachment: at }) => at), ...seen.unreadable]
          .filter((at) => at?.networkCard === 0)
          .map((at) => at?.deviceIndex),
      ];
      if (made.length > 0) {
        expect(occupiedSlots(seen) + creations(started).length + made.length).toBeLessThanOrEqual(
          limits.interfaces,
        );
      }
      for (const { deviceIndex } of made) {
        expect(deviceIndex).toBeGreaterThanOrEqual(asked.firstInterfaceIndex);
        expect(indexes.filter((index) => index === deviceIndex)).toHaveLength(1);
      }
    });
  });

  test('takes no more from a subnet than it has, and nothing from a subnet that is not eligible', () => {
    check(({ free, infrastructure: known }, steps) => {
      for (const id of subnetIds) {
        const all = steps.filter((step) => step.subnetId === id);
        const isUncounted = all.some((step) => prefixesOf(step) === 1);
        const taken = sum(all.map(subnetAddressesUsed)) - (isUncounted ? 16 : 0);
        expect(taken).toBeLessThanOrEqual(known.subnets.get(id)?.eligible === true ? free(id) : 0);
      }
    });
  });

  test('does not touch an excluded interface, and uses its subnet as it is', () => {
    check((given, steps) => {
      for (const step of steps) {
        if (step.kind === 'createInterface') continue;
        const item = given.view.interfaces.find(({ id }) => id === step.interfaceId);
        expect(item !== undefined && isUsable(item, given)).toBe(true);
        expect(step.subnetId).toBe(item?.subnetId);
      }
    });
  });

  test('creates interfaces only once the existing ones are as full as possible', () => {
    check((given, steps) => {
      if (creations(steps).length === 0 || given.preferNew || given.maxFor('new') < Infinity) return;
      if (steps.some(bringsPrefixes)) return;
      const filling = steps.filter((step) => step.kind === 'allocateIPs');
      for (const item of given.view.interfaces.filter((found) => isUsable(found, given))) {
        if (!isFree(given, item)) continue;
        const room = roomOn(item, given.limits) - addedTo(item.id, [...given.stepsInFlight, ...steps]);
        const taken = sum(filling.filter((step) => step.subnetId === item.subnetId).map(subnetAddressesUsed));
        expect(room <= 0 || taken === given.free(item.subnetId)).toBe(true);
      }
    });
  });

  test('creates no partly filled interface unless it is the last, or its subnet had no more', () => {
    check(({ limits, free, maxFor }, steps) => {
      if (steps.some(bringsPrefixes) || maxFor('new') < Infinity) return;
      const made = creations(steps);
      for (const [place, step] of made.slice(0, -1).entries()) {
        const before = steps.slice(0, steps.indexOf(made[place] ?? step));
        const left =
          free(step.subnetId) -
          sum(before.filter((other) => other.subnetId === step.subnetId).map(subnetAddressesUsed));
        expect(step.count === limits.addressesPerInterface - 1 || subnetAddressesUsed(step) === left).toBe(
          true,
        );
      }
    });
  });

  test('requests nothing that is blocked, and what is due only once', () => {
    check((given, steps) => {
      const place = { instanceId: 'i-1', nodeSubnetId: given.requirements.nodeSubnetId };
      const asked = steps
        .flatMap((step) => allScopesOf(step, place))
        .filter((scope) => given.refusalOf(scope) !== undefined);
      const keys = asked.map(keyOf);

      expect(asked.every((scope) => given.refusalOf(scope)?.isDue)).toBe(true);
      expect(keys).toEqual([...new Set(keys)]);
    });
  });

  test('names an obstacle if and only if something is missing for longer than now', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const { unmet, obstacle, refusals, isStuck } = prepareIPAllocation(grouped(given));

        const waits = given.view.interfaces.some(
          (item) =>
            exclusionOf(item, given.requirements) === undefined &&
            (given.frozen.has(item.id) || item.attachment?.state !== 'attached') &&
            roomOn(item, given.limits) > 0,
        );
        const willHaveRoom = given.stepsInFlight.some(
          (step) => step.kind === 'createInterface' && step.count < given.limits.addressesPerInterface - 1,
        );
        if (unmet === 0) expect([obstacle, refusals, isStuck]).toEqual([undefined, [], false]);
        else if (!waits && !willHaveRoom && given.maxFor('new') === Infinity) {
          expect(isStuck).toBe(true);
          expect(obstacle !== undefined || refusals.length > 0).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('is the same each time, in whatever order subnets are known', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const subnets = new Map([...given.infrastructure.subnets].toReversed());
        const turned = { ...given, infrastructure: { ...given.infrastructure, subnets } };

        const plan = prepareIPAllocation(grouped(given));

        expect(prepareIPAllocation(grouped(given))).toEqual(plan);
        expect(prepareIPAllocation(grouped(turned))).toEqual(plan);
      }),
    );
  });
});
