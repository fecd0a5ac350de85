import { describe, expect, test } from '@jest/globals';
import type { PlanQuestion } from '../../../../src/commands/plan/chosen-kinds.ts';
import type { PlanningFacts } from '../../../../src/commands/plan/planning-facts.ts';
import type { NodeKind } from '../../../../src/controller/reporting/planning-report.ts';
import { m5Large, requirements } from '../../node/allocation-facts.ts';
import { facts, kind, planned, subnet } from './planned-facts.ts';

const prefixes = { ...requirements({ securityGroupIds: ['sg-1'] }), prefixDelegation: true };

describe('one node', () => {
  test.each<[string, Partial<PlanQuestion>, Partial<NodeKind>, object]>([
    ['gets what its agent starts with', { pods: 0 }, {}, { interfaces: 1, addresses: 8 }],
    ['keeps pre-allocate free beside its pods', { pods: 10 }, {}, { interfaces: 2, addresses: 18 }],
    ['gets no more than its type can hold', { pods: 25 }, {}, { interfaces: 3, addresses: 27 }],
    ['is full by default', { pods: undefined }, {}, { interfaces: 3, addresses: 27, pods: 27 }],
    [
      'gets prefixes',
      { pods: 30 },
      { requirements: prefixes },
      { interfaces: 1, addresses: 48, prefixes: 3 },
    ],
    [
      'leaves its first interface to the host',
      { pods: 10 },
      { requirements: requirements({ firstInterfaceIndex: 1, securityGroupIds: ['sg-1'] }) },
      { interfaces: 3, addresses: 18 },
    ],
    [
      'keeps a margin above the watermark',
      { pods: 10 },
      { watermarks: { preAllocate: 4, minAllocate: 12, maxAllocate: 20, maxAboveWatermark: 3 } },
      { interfaces: 2, addresses: 15 },
    ],
  ])('%s', (_, asked, change, expected) => {
    const { kinds, fit } = planned({ add: 1, ...asked }, facts({ planning: { kinds: [kind(change)] } }));

    expect({ ...kinds[0], fit }).toMatchObject({ ...expected, fit: 1 });
  });

  test('that is asked for more pods than it can hold does not fit, and is told why', () => {
    const { fit, problems } = planned({ add: 2, pods: 40 });

    expect({ fit, problems }).toEqual({
      fit: 0,
      problems: [
        {
          reason: 'InstanceFull',
          why: 'm5.large holds 27 addresses for pods, for 40 pods and 0 of the agent: use a larger type, or place fewer pods on a node',
          firstNode: 1,
          nodes: 2,
          pods: 26,
        },
      ],
    });
  });

  test('whose max-allocate is less than its pods does not fit', () => {
    const watermarks = { preAllocate: 8, minAllocate: 0, maxAllocate: 10, maxAboveWatermark: 0 };

    const { problems } = planned({ add: 1 }, facts({ planning: { kinds: [kind({ watermarks })] } }));

    expect(problems).toEqual([expect.objectContaining({ reason: 'MaxAllocateReached', pods: 10 })]);
  });
});

describe('subnets', () => {
  test('run out after the node that still fits', () => {
    // Each node takes 3 primary addresses and 27 for pods.
    const { fit, subnets, problems } = planned({ pods: 27 }, facts({ subnets: [subnet('subnet-1', 95)] }));

    expect({ fit, subnets }).toEqual({
      fit: 3,
      subnets: [{ id: 'subnet-1', zone: 'us-west-1a', free: 95, taken: 95, left: 0, runsOutAfter: 3 }],
    });
    expect(problems.map(({ reason, firstNode, nodes }) => [reason, firstNode, nodes])).toEqual([
      ['SubnetsExhausted', 4, 1],
      ['SubnetsExhausted', 5, 6],
    ]);
  });

  test('that the nodes choose by tags take turns, the freest first', () => {
    const asked = { firstInterfaceIndex: 1, subnetTags: { purpose: 'pods' }, securityGroupIds: ['sg-1'] };
    const purpose = { purpose: 'pods' };
    const known = facts({
      subnets: [subnet('subnet-1', 100), subnet('subnet-2', 200), subnet('subnet-3', 180)],
      planning: {
        kinds: [kind({ requirements: requirements(asked) })],
        subnetTags: { 'subnet-2': purpose, 'subnet-3': purpose },
      },
    });

    const { subnets, fit } = planned({ pods: 18 }, known);

    expect(fit).toBe(10);
    expect(subnets.map(({ id, taken }) => [id, taken])).toEqual([
      ['subnet-1', 10],
      ['subnet-2', 110],
      ['subnet-3', 90],
    ]);
  });

  test.each<[string, Partial<PlanningFacts['subnets'][number]>, string]>([
    ['that options exclude', { eligible: false }, 'SubnetsExhausted'],
    ['of another zone', { zone: 'us-west-1b' }, 'SubnetsExhausted'],
  ])('%s give nothing', (_, change, reason) => {
    const asked = { subnetTags: { purpose: 'pods' }, strictSubnets: false, securityGroupIds: ['sg-1'] };
    const known = facts({
      subnets: [subnet('subnet-1', 1), subnet('subnet-2', 900, change)],
      planning: {
        kinds: [kind({ requirements: requirements(asked) })],
        subnetTags: { 'subnet-2': { purpose: 'pods' } },
      },
    });

    const { fit, problems } = planned({ add: 1 }, known);

    expect({ fit, reasons: problems.map((each) => each.reason) }).toEqual({ fit: 0, reasons: [reason] });
  });

  test('without whole blocks give single addresses', () => {
    const { kinds, fit, calls } = planned(
      { add: 1, pods: 10 },
      facts({
        subnets: [subnet('subnet-1', 100, { freeBlocks: 0 })],
        planning: { kinds: [kind({ requirements: prefixes })] },
      }),
    );

    expect(kinds[0]).toMatchObject({ addresses: 18, prefixes: 0 });
    expect(fit).toBe(1);
    expect(calls.allocatePrefixes).toBeGreaterThan(0);
  });
});

describe('nodes in several zones', () => {
  test('take turns, each like those of its zone', () => {
    const inB = kind({
      example: 'two',
      requirements: requirements({
        zone: 'us-west-1b',
        nodeSubnetId: 'subnet-b',
        securityGroupIds: ['sg-1'],
      }),
      given: [{ subnet: 'subnet-b', deviceIndex: 0, ofOthers: 0, secured: true }],
    });
    const known = facts({
      subnets: [subnet('subnet-1', 900), subnet('subnet-b', 100, { zone: 'us-west-1b' })],
      planning: { kinds: [kind(), inB] },
    });

    const { kinds, fit, subnets } = planned({ add: 20, pods: 27 }, known);

    expect(kinds.map(({ zone, nodes, like }) => [zone, nodes, like.example])).toEqual([
      ['us-west-1a', 10, 'one'],
      ['us-west-1b', 10, 'two'],
    ]);
    expect(fit).toBe(13);
    expect(subnets.map(({ id, runsOutAfter }) => [id, runsOutAfter])).toEqual([
      ['subnet-1', undefined],
      ['subnet-b', 7],
    ]);
  });
});

describe('time', () => {
  const bucket = (action: string, capacity: number, refillPerSecond: number) => ({
    action,
    capacity,
    refillPerSecond,
    tokens: capacity,
  });

  test('is what the slowest rate limit leaves, beyond what is there at first', () => {
    const buckets = [bucket('Create', 80, 4), bucket('Attach', 40, 4), bucket('Assign', 1000, 100)];

    const { seconds, limit, calls } = planned({ add: 100, pods: 27 }, facts({ buckets }));

    // Agents start with addresses of the first interface; two more are created and attached for pods.
    expect(calls).toMatchObject({ createInterface: 200, attachInterface: 200 });
    expect(seconds).toEqual({ start: 0, pods: 40, all: 40 });
    expect(limit).toBe('Attach');
  });

  test('of what is only kept free leaves part of each limit to pods that wait', () => {
    const known = facts({
      buckets: [bucket('Assign', 100, 1)],
      planning: {
        kinds: [
          kind({ watermarks: { preAllocate: 2, minAllocate: 0, maxAllocate: 0, maxAboveWatermark: 0 } }),
        ],
      },
    });

    const { seconds, calls } = planned({ add: 100, pods: 0 }, known);
    const more = planned({ add: 100, pods: 4 }, known);

    expect(calls).toEqual({ allocateIPs: 100 });
    expect(seconds).toEqual({ start: 0, pods: 0, all: 0 });
    expect(more.calls).toEqual({ allocateIPs: 300 });
    expect(more.seconds).toEqual({ start: 0, pods: 100, all: 220 });
  });

  test('of a limit in a window ends when the window does', () => {
    const known = facts({ buckets: [{ ...bucket('Assign', 50, 1), windowSeconds: 61 }] });

    expect(planned({ add: 120, pods: 0 }, known).seconds.all).toBe(122);
  });

  test('is not held back by limits that each node has of its own', () => {
    const known = facts({ buckets: [{ ...bucket('Assign', 5, 0.1), tokens: 0, perThing: true as const }] });

    expect(planned({ add: 120, pods: 9 }, known).seconds.all).toBe(0);
  });
});

describe('interfaces that an instance was given', () => {
  test('are filled one change after the other, with what others made on them', () => {
    const limits = { interfaces: 2, addressesPerInterface: 256, prefixes: false };
    const given = [
      { subnet: 'subnet-1', deviceIndex: 0, ofOthers: 4, secured: true },
      { subnet: 'subnet-2', deviceIndex: 1, ofOthers: 0, secured: true },
    ];
    const { kinds, subnets, calls } = planned(
      { add: 2, pods: 30 },
      facts({
        subnets: [subnet('subnet-1', 100), subnet('subnet-2', 100)],
        planning: {
          interfaces: 'given',
          change: 'perInstance',
          kinds: [
            kind({
              given,
              limits,
              requirements: { ...requirements(), instanceType: '', sparesOthers: true },
            }),
          ],
        },
      }),
    );

    expect(kinds[0]).toMatchObject({ interfaces: 2, addresses: 38 });
    expect(subnets.map(({ id, taken }) => [id, taken])).toEqual([
      ['subnet-1', 2 * (1 + 4 + 38)],
      ['subnet-2', 2],
    ]);
    expect(calls).toEqual({ allocateIPs: 6 });
  });
});

test('an IPv6 prefix comes with the first call that can bring it', () => {
  const known = facts({
    subnets: [subnet('subnet-1', 900, { ipv6Cidr: '2001:db8::/64' })],
    planning: { kinds: [kind({ ipv6: true, limits: { ...m5Large, ipv6PerInterface: 10 } })] },
  });

  expect(planned({ add: 3, pods: 0 }, known).calls).toEqual({ allocateIPs: 3, allocateIpv6Prefix: 3 });
});
