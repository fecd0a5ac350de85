import { describe, expect, test } from '@jest/globals';
import type { AllocationFacts, CallRules } from '../../../../src/node/allocate/allocation-facts.ts';
import { prepareIPAllocation } from '../../../../src/node/allocate/prepare-ip-allocation.ts';
import { keyOf } from '../../../../src/node/allocate/refused-scope.ts';
import { failure } from '../outcomes.ts';
import { eni, facts, infrastructure, m5Large, subnet, view } from '../allocation-facts.ts';
import { inShort } from '../steps-in-short.ts';
import { attachment } from '../../providers/interfaces.ts';

const ipv6Cidr = '2600:1f14:1::/64';
const prefix = ['2600:1f14:1:0:1::/80'];
const limits = { ...m5Large, ipv6PerInterface: 10 };
const both = infrastructure([subnet('subnet-1', { ipv6Cidr }), subnet('subnet-2')]);
const asking = { ipv6: 'wanted', limits, infrastructure: both, wanted: 0 } as const;
const free = { 'subnet-1': 100, 'subnet-2': 200 };
const fullInterface = eni(0, 9);
const withOne = eni(0, 0, { ipv6Addresses: 1 });
const inOther = eni(0, 0, { subnetId: 'subnet-2' });
const detaching = eni(0, 0, { attachment: attachment({ state: 'detaching' }) });
const adding = { kind: 'allocateIpv6Prefix', interfaceId: 'eni-0', subnetId: 'subnet-1', count: 1 } as const;
const making = {
  kind: 'createInterface',
  subnetId: 'subnet-1',
  securityGroupIds: ['sg-1'],
  deviceIndex: 1,
  count: 3,
  prefixCount: 0,
} as const;

function orphanWith(ipv6Prefixes: readonly string[]): AllocationFacts['orphans'] {
  const { attachment: _, ...detached } = eni(9, 4, { ipv6Prefixes });
  return { read: true, fit: [{ ...detached, attachment: undefined }], unclear: [] };
}

type Change = Parameters<typeof facts>[0];

/** Refuses these scopes. */
function refusing(...keys: readonly string[]): Pick<CallRules, 'refusalOf'> {
  return {
    refusalOf: (scope) =>
      keys.includes(keyOf(scope))
        ? { scope, failure: failure('unknown'), failures: 2, isDue: false, isOfOthers: false }
        : undefined,
  };
}

const twoBlocks = infrastructure([
  subnet('subnet-1', { ipv6Cidr }),
  subnet('subnet-2', { ipv6Cidr: '2600:1f14:2::/64' }),
]);

/** The subnet or the interface says, so often in a row, that it has no place left. */
function full(scope: 'ipv6In subnet-1' | 'ipv6On eni-0', failures = 2): Change {
  const kind = scope === 'ipv6On eni-0' ? 'limitReached' : 'prefixSpaceFragmented';
  return {
    infrastructure: twoBlocks,
    refusalOf: (asked) =>
      keyOf(asked) === scope
        ? { scope: asked, failure: failure(kind), failures, isDue: false, isOfOthers: false }
        : undefined,
  };
}

describe('a plan for a node that asks for IPv6', () => {
  test.each<[string, Change, string[]]>([
    ['an interface with room', {}, ['eni-0+ipv6']],
    ['beside addresses', { wanted: 3 }, ['eni-0+3', 'eni-0+ipv6']],
    [
      'with the interface that is created anyway',
      { wanted: 3, view: view([fullInterface]) },
      ['new@1:subnet-1+3+ipv6'],
    ],
    ['not if nobody asks', { ipv6: 'needless' }, []],
    ['not if the node has one', { ipv6: 'held' }, []],
    ['not while one is coming', { stepsInFlight: [adding] }, []],
    ['not while an interface is coming that can take it', { stepsInFlight: [making], view: view([]) }, []],
    [
      'not beside the limit of IPv6',
      { limits: { ...limits, ipv6PerInterface: 1 }, view: view([withOne]) },
      ['new@1:subnet-1+0+ipv6'],
    ],
    [
      'an interface for it alone, where none can take it',
      { view: view([inOther]) },
      ['new@1:subnet-1+0+ipv6'],
    ],
    [
      'no interface for it alone before orphans are known',
      { view: view([inOther]), orphans: { read: false, fit: [], unclear: [] } },
      [],
    ],
    [
      'an orphan that has one',
      { wanted: 3, view: view([fullInterface]), orphans: orphanWith(prefix) },
      ['adopt eni-9@1+ipv6'],
    ],
    [
      'no orphan with a second one',
      { ipv6: 'held', wanted: 3, view: view([fullInterface]), orphans: orphanWith(prefix) },
      ['new@1:subnet-1+3'],
    ],
    [
      'IPv4 alone where it is refused in the subnet',
      { wanted: 3, view: view([fullInterface]), ...refusing('ipv6In subnet-1') },
      ['new@1:subnet-1+3'],
    ],
    [
      'IPv6 alone where IPv4 is refused',
      { wanted: 3, ...refusing('action assign') },
      ['new@1:subnet-1+3+ipv6'],
    ],
    [
      'an interface elsewhere where the subnet has none left',
      full('ipv6In subnet-1'),
      ['new@1:subnet-2+0+ipv6'],
    ],
    ['no interface after one such answer', full('ipv6In subnet-1', 1), []],
    ['another interface where the first has no place', full('ipv6On eni-0'), ['new@1:subnet-1+0+ipv6']],
    [
      'no interface for it alone where something else refuses it',
      { infrastructure: twoBlocks, ...refusing('ipv6In subnet-1') },
      [],
    ],
    ['not on an interface that is leaving', { frozen: new Set(['eni-0']) }, []],
    ['another interface beside one that is detached', { view: view([detaching]) }, ['new@1:subnet-1+0+ipv6']],
    [
      'not while we detach the only interface that could have it',
      { frozen: new Set(['eni-0']), view: view([detaching]) },
      [],
    ],
    ['not where the type has none', { limits: m5Large }, []],
  ])('has %s', (_, change, expected) => {
    expect(inShort(prepareIPAllocation(facts({ free, ...asking, ...change })).steps)).toEqual(expected);
  });

  test.each<[string, Change, unknown]>([
    ['its type has none', { limits: m5Large }, { kind: 'ipv6Unsupported' }],
    [
      'no subnet has an IPv6 block',
      { infrastructure: infrastructure([subnet('subnet-1')]) },
      { kind: 'noIpv6Subnet', subnetIds: ['subnet-1'] },
    ],
    [
      'no interface has room, and none can be added',
      { limits: { ...limits, ipv6PerInterface: 1, interfaces: 1 }, view: view([withOne]) },
      { kind: 'noIpv6Room' },
    ],
    [
      'a subnet has an IPv6 block, and no slot is left for an interface in it',
      { limits: { ...limits, interfaces: 1 }, view: view([inOther]) },
      { kind: 'noIpv6Room' },
    ],
    [
      'the only interface that could have it is being detached',
      { limits: { ...limits, interfaces: 1 }, view: view([detaching]) },
      { kind: 'interfacesDetaching', interfaceIds: ['eni-0'] },
    ],
  ])('says that %s', (_, change, obstacle) => {
    expect(prepareIPAllocation(facts({ free, ...asking, ...change })).ipv6).toEqual({
      kind: 'unmet',
      obstacle,
      refusals: [],
    });
  });

  test('names the subnet without a prefix left if no other one has any', () => {
    const plan = prepareIPAllocation(
      facts({ free, ...asking, ...full('ipv6In subnet-1'), infrastructure: both }),
    );

    expect(plan.steps).toEqual([]);
    expect(plan.ipv6).toMatchObject({ obstacle: undefined, refusals: [{ scope: { subnetId: 'subnet-1' } }] });
  });

  test('names what was refused, and nothing of IPv4', () => {
    const plan = prepareIPAllocation(facts({ free, ...asking, ...refusing('action assignIpv6') }));

    expect(plan).toMatchObject({ isStuck: false, obstacle: undefined, refusals: [] });
    expect(plan.ipv6?.refusals.map(({ scope }) => keyOf(scope))).toEqual(['action assignIpv6']);
  });
});
