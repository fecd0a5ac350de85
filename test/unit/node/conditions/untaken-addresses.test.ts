import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { untakenAddresses, type Untaken } from '../../../../src/node/conditions/untaken-addresses.ts';
import { expandBlock } from '../../../../src/providers/contract/ipv4.ts';
import { ciliumNode } from '../../kubernetes/cilium-node-fixture.ts';
import { eni, requirements, view } from '../allocation-facts.ts';
import { wellFormed } from '../cilium-nodes.ts';

interface Shown {
  /** Addresses of the pool by interface, also shown by its status. */
  readonly pool?: Readonly<Record<string, readonly string[]>>;
  readonly used?: readonly string[];
  readonly handshake?: Readonly<Record<string, string>>;
  readonly minAllocate?: number;
  /** What a multi-pool agent requests besides its 8 free ones, and lists; if given, the agent is one. */
  readonly demand?: number;
  readonly listed?: readonly string[];
  /** CIDRs that the status shows of an interface. */
  readonly cidrs?: Readonly<Record<string, readonly string[]>>;
}

function nodeThatShows({ pool = {}, used = [], handshake = {}, minAllocate, ...multiPool }: Shown): unknown {
  const { demand, listed = [], cidrs = {} } = multiPool;
  const entries = Object.entries(pool).flatMap(([resource, addresses]) =>
    addresses.map((address) => [address, { resource }] as const),
  );
  const shown = Object.entries({ ...pool, ...cidrs }).map(
    ([id, each]) => [id, { id, addresses: each.flatMap(addressesIn) }] as const,
  );
  const pools = {
    requested: [{ pool: 'default', needed: { 'ipv4-addrs': (demand ?? 0) + 8 } }],
    allocated: [{ pool: 'default', cidrs: [...listed] }],
  };
  const emptied = ciliumNode({ spec: { ipam: null }, status: null });
  const spec = emptied['spec'] as JsonObject;
  return {
    ...emptied,
    spec: {
      ...spec,
      ipam: {
        pool: Object.fromEntries(entries),
        'pre-allocate': minAllocate === undefined ? 0 : 8,
        'min-allocate': minAllocate ?? 0,
        ...(demand !== undefined && { pools }),
      },
    },
    status: {
      eni: { enis: Object.fromEntries(shown) },
      ipam: { used: Object.fromEntries(used.map((address) => [address, {}])), 'release-ips': handshake },
    },
  };
}

function addressesIn(cidr: string): readonly string[] {
  return cidr.endsWith('/28') ? expandBlock(cidr) : [cidr.replace('/32', '')];
}

const first = '10.0.1.0/28';
const second = '10.0.2.0/28';
const third = '10.0.3.0/28';
const three = { 'eni-1': [first, second], 'eni-2': [third] };

test.each<[string, Shown, Untaken | undefined]>([
  ['nothing', {}, undefined],
  ['a free address', { pool: { 'eni-1': ['10.0.1.1'] } }, { kind: 'free', addresses: 1 }],
  ['only addresses in use', { pool: { 'eni-1': ['10.0.1.1'] }, used: ['10.0.1.1'] }, undefined],
  [
    'addresses in use and a free one',
    { pool: { 'eni-1': ['10.0.1.1', '10.0.1.2'] }, used: ['10.0.1.1'] },
    { kind: 'free', addresses: 1 },
  ],
  [
    'only an address that is leaving',
    { pool: { 'eni-1': ['10.0.1.1'] }, handshake: { '10.0.1.1': 'marked-for-release' } },
    undefined,
  ],
  ['free addresses of an excluded interface', { pool: { 'eni-0': ['10.0.1.1'] } }, undefined],
  ['free addresses of an interface that is gone', { pool: { 'eni-9': ['10.0.1.1'] } }, undefined],
  [
    'too few addresses for its agent to start',
    { pool: { 'eni-1': ['10.0.1.1', '10.0.1.2'] }, used: ['10.0.1.1'], minAllocate: 3 },
    undefined,
  ],
  [
    'enough addresses for its agent to start',
    { pool: { 'eni-1': ['10.0.1.1', '10.0.1.2'] }, minAllocate: 2 },
    { kind: 'free', addresses: 2 },
  ],
  [
    'a block that its agent does not list, although the others are used up',
    { cidrs: three, listed: [first, second], demand: 32 },
    { kind: 'unlisted', addresses: 16 },
  ],
  [
    'such a block, with failed attempts in the demand',
    { cidrs: three, listed: [first, second], demand: 38 },
    { kind: 'unlisted', addresses: 16 },
  ],
  [
    'a block that its agent dropped, as it has others',
    { cidrs: three, listed: [first, second], demand: 20 },
    { kind: 'free', addresses: 28 },
  ],
  ['blocks of which its agent lists none', { cidrs: three, demand: 1 }, { kind: 'unlisted', addresses: 48 }],
  ['only listed blocks in use', { cidrs: three, listed: [first, second, third], demand: 48 }, undefined],
  [
    'listed blocks with free addresses',
    { cidrs: three, listed: [first, second, third], demand: 40 },
    { kind: 'free', addresses: 8 },
  ],
  [
    'an unlisted block of an excluded interface',
    { cidrs: { 'eni-0': [third], 'eni-1': [first] }, listed: [first], demand: 16 },
    undefined,
  ],
  [
    'a single address that its agent does not list',
    { cidrs: { 'eni-1': ['10.0.1.1/32', '10.0.1.2/32'] }, listed: ['10.0.1.1/32'], demand: 1 },
    { kind: 'unlisted', addresses: 1 },
  ],
])('the addresses that an agent leaves, of a node that shows %s', (_, shown, expected) => {
  const node = wellFormed(nodeThatShows(shown));
  const interfaces = view([eni(0), eni(1), eni(2)]);

  expect(untakenAddresses(node, interfaces, requirements({ firstInterfaceIndex: 1 }))).toEqual(expected);
});
