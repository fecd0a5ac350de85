import { describe, expect, test } from '@jest/globals';
import { newCiliumNodeSpec } from '../../../../src/agent/own-node/own-node.ts';
import { chooseBlocks, listedBlocks, poolsPatch } from '../../../../src/agent/own-node/shown-pools.ts';
import { type Cidr, cidrText, parseCidr } from '../../../../src/blocks/set/cidr.ts';
import type { AgentMode } from '../../../../src/config/options/agent-options.ts';
import type { Json, JsonObject } from '../../../../src/runtime/json.ts';

const node = (pools: JsonObject): JsonObject => ({ spec: { ipam: { pools } } });
const cidr = (text: string): Cidr => {
  const reading = parseCidr(text);
  if (reading.kind === 'invalid') throw new Error(reading.why);
  return reading.cidr;
};

describe('the blocks of a node', () => {
  test.each<[readonly string[], readonly string[], readonly string[], number]>([
    [['10.0.1.0/24'], [], ['10.0.1.0/24'], 0],
    [['10.0.1.0/24', 'fd00::/64'], [], ['10.0.1.0/24', 'fd00::/64'], 0],
    [['fd00::/64', '10.0.1.0/24', '10.0.2.0/24'], [], ['10.0.1.0/24', 'fd00::/64'], 0],
    [['10.0.1.0/24', '10.0.0.0/16'], [], ['10.0.1.0/24'], 0],
    [['0.0.0.0/0', '10.0.1.0/24'], [], ['10.0.1.0/24'], 1],
    [['10.0.1.7/32', '::/0', 'x', ''], [], [], 4],
    [['10.0.1.0/24'], ['10.9.0.0/24'], ['10.9.0.0/24'], 0],
    [['10.0.1.0/24'], ['fd00::/64'], ['10.0.1.0/24', 'fd00::/64'], 0],
    [[], [], [], 0],
  ])('of %j with ranges %j are %j', (shown, ranges, blocks, problems) => {
    const chosen = chooseBlocks(shown, ranges.map(cidr));

    expect(Object.values(chosen.blocks).map(cidrText)).toEqual(blocks);
    expect(chosen.problems).toHaveLength(problems);
  });
});

describe('the blocks that a CiliumNode lists', () => {
  test.each<readonly [Json, readonly string[], readonly string[]]>([
    [[{ pool: 'a', cidrs: ['10.0.0.0/24', 'fd00::/64'] }], ['a 10.0.0.0/24', 'a fd00::/64'], []],
    [[{ pool: 'a', cidrs: ['10.0.0.7/32'] }], ['a 10.0.0.7/32'], []],
    [
      [{ pool: 'a', cidrs: ['0.0.0.0/0'] }],
      [],
      ['0.0.0.0/0 is no block of a pool because its prefix length is not from 8 to 32'],
    ],
    [
      [{ pool: 'a', cidrs: ['x', 7] }],
      [],
      ['x is no block of a pool because it is not an address, a slash and a prefix length'],
    ],
    [
      [
        { pool: 'a', cidrs: ['10.0.0.0/24'] },
        { pool: 'b', cidrs: ['10.0.0.128/25', '10.0.1.0/24'] },
      ],
      ['a 10.0.0.0/24', 'b 10.0.1.0/24'],
      ['10.0.0.128/25 is no block of a pool because it overlaps 10.0.0.0/24'],
    ],
    ['text', [], []],
  ])('of %j are %j', (allocated, blocks, problems) => {
    const listed = listedBlocks(node({ allocated }));

    expect(listed.blocks.map((each) => `${each.pool} ${cidrText(each.cidr)}`)).toEqual(blocks);
    expect(listed.problems).toEqual(problems);
  });
});

describe('what a node writes of its pools', () => {
  const needs = new Map([
    ['b', { ipv4: 2, ipv6: 0 }],
    ['a', { ipv4: 0, ipv6: 3 }],
    ['c', { ipv4: 0, ipv6: 0 }],
  ]);
  const requested = [
    { pool: 'a', needed: { 'ipv6-addrs': 3 } },
    { pool: 'b', needed: { 'ipv4-addrs': 2 } },
  ];

  test.each<readonly [string, JsonObject, ReadonlyMap<string, readonly Cidr[]>, JsonObject | undefined]>([
    ['nothing is shown', {}, new Map(), { requested }],
    ['all is shown', { requested }, new Map(), undefined],
    [
      'it holds blocks',
      { requested },
      new Map([['a', [cidr('fd00::/64'), cidr('10.0.1.0/24'), cidr('10.0.0.0/24')]]]),
      { allocated: [{ pool: 'a', cidrs: ['10.0.0.0/24', '10.0.1.0/24', 'fd00::/64'] }] },
    ],
    [
      'it lists them in another order',
      { requested, allocated: [{ pool: 'a', cidrs: ['10.0.1.0/24', '10.0.0.0/24'] }] },
      new Map([['a', [cidr('10.0.0.0/24'), cidr('10.0.1.0/24')]]]),
      undefined,
    ],
    [
      'it holds fewer blocks than it lists',
      { requested, allocated: [{ pool: 'a', allowFirstIP: true, cidrs: ['10.0.1.0/24', '10.0.0.0/24'] }] },
      new Map([['a', [cidr('10.0.0.0/24')]]]),
      { allocated: [{ pool: 'a', allowFirstIP: true, cidrs: ['10.0.0.0/24'] }] },
    ],
    [
      'it knows of no block',
      { requested, allocated: [{ pool: 'a', cidrs: ['10.0.1.0/24'] }] },
      new Map(),
      undefined,
    ],
    [
      'it lists what is no block',
      { requested, allocated: [{ pool: 'a', cidrs: ['10.0.0.0/24', 'x'] }] },
      new Map([['a', [cidr('10.0.0.0/24')]]]),
      { allocated: [{ pool: 'a', cidrs: ['10.0.0.0/24'] }] },
    ],
  ])('where %s', (_, pools, held, expected) => {
    expect(poolsPatch(node(pools), needs, held)).toEqual(
      expected === undefined ? undefined : { ipam: { pools: expected } },
    );
  });
});

describe('the spec of a CiliumNode that an agent creates', () => {
  const labels = { 'node.kubernetes.io/instance-type': 't', 'topology.kubernetes.io/zone': 'z' };

  test.each<readonly [AgentMode, string, JsonObject]>([
    [
      'eni',
      'aws:///z/i-1',
      { 'instance-id': 'i-1', eni: { 'instance-type': 't', 'availability-zone': 'z' } },
    ],
    ['eni', '', { eni: { 'instance-type': 't', 'availability-zone': 'z' } }],
    ['azure', 'azure:///subscriptions/S/x', { 'instance-id': '/subscriptions/s/x' }],
    [
      'alibabacloud',
      'cn-beijing.i-1',
      { 'instance-id': 'i-1', 'alibaba-cloud': { 'instance-type': 't', 'availability-zone': 'z' } },
    ],
    ['multi-pool', 'aws:///z/i-1', {}],
    ['cluster-pool', '', {}],
  ])('with %s of %j', (mode, providerID, expected) => {
    const spec = newCiliumNodeSpec(
      mode,
      { metadata: { labels }, spec: { providerID } },
      { ipam: { 'min-allocate': 1 } },
    );

    expect(spec).toEqual({ ipam: { 'min-allocate': 1 }, ...expected });
  });
});
