// Statuses as agents, older and newer operators, editors and hostile clients leave them behind, with what each shows.
import type { Json } from '../../../../src/runtime/json.ts';

export interface ShownStatus {
  readonly eni: Json;
  /** The addresses that an agent may take from it. */
  readonly shows: readonly string[];
  /** The interfaces that it shows. */
  readonly interfaces: readonly string[];
  /** What is read of it in part only. */
  readonly warnings?: number;
}

const [a, b, c] = ['10.0.0.10', '10.0.0.11', '10.0.1.10'];
const block = '10.0.0.32/28';
const members = Array.from({ length: 16 }, (_, index) => `10.0.0.${32 + index}`);

/** An interface as Headwater writes it. */
const whole = {
  id: 'eni-1',
  ip: '10.0.0.4',
  mac: '02:00:00:00:00:01',
  number: 1,
  'availability-zone': 'us-west-1a',
  subnet: { id: 'subnet-1', cidr: '10.0.0.0/24' },
  vpc: { id: 'vpc-1', 'primary-cidr': '10.0.0.0/16' },
};

const one = (fields: { readonly [name: string]: Json }): Json => ({ enis: { 'eni-1': fields } });

export const shownStatuses: Readonly<Record<string, ShownStatus>> = {
  'an absent one': { eni: null, shows: [], interfaces: [] },
  'an empty one': { eni: {}, shows: [], interfaces: [] },
  'no interfaces': { eni: { enis: null }, shows: [], interfaces: [] },
  'an empty map of interfaces': { eni: { enis: {} }, shows: [], interfaces: [] },
  'an empty interface': { eni: one({}), shows: [], interfaces: ['eni-1'] },
  'an interface without addresses': { eni: one(whole), shows: [], interfaces: ['eni-1'] },
  'an address': { eni: one({ ...whole, addresses: [a] }), shows: [a], interfaces: ['eni-1'] },
  'several addresses': { eni: one({ ...whole, addresses: [a, b] }), shows: [a, b], interfaces: ['eni-1'] },
  'several interfaces': {
    eni: { enis: { 'eni-1': { ...whole, addresses: [a] }, 'eni-2': { ...whole, addresses: [c] } } },
    shows: [a, c],
    interfaces: ['eni-1', 'eni-2'],
  },
  'an address on two interfaces': {
    eni: { enis: { 'eni-1': { ...whole, addresses: [a] }, 'eni-2': { ...whole, addresses: [a, c] } } },
    shows: [a, c],
    interfaces: ['eni-1', 'eni-2'],
  },
  'an address twice': { eni: one({ ...whole, addresses: [a, a] }), shows: [a], interfaces: ['eni-1'] },
  'its primary address among the others, for pods': {
    eni: one({ ...whole, addresses: ['10.0.0.4', a] }),
    shows: ['10.0.0.4', a],
    interfaces: ['eni-1'],
  },
  'its primary address in its field only': {
    eni: one({ ...whole, ip: a }),
    shows: [],
    interfaces: ['eni-1'],
  },
  'a prefix with its members': {
    eni: one({ ...whole, addresses: [a, ...members], prefixes: [block] }),
    shows: [a, ...members],
    interfaces: ['eni-1'],
  },
  'a prefix without its members, as an older operator lists it': {
    eni: one({ ...whole, prefixes: [block] }),
    shows: members,
    interfaces: ['eni-1'],
  },
  'a prefix with some of its members': {
    eni: one({ ...whole, addresses: members.slice(0, 3), prefixes: [block] }),
    shows: members,
    interfaces: ['eni-1'],
  },
  'members of a prefix that is split': {
    eni: one({ ...whole, addresses: members.slice(1) }),
    shows: members.slice(1),
    interfaces: ['eni-1'],
  },
  'a prefix with host bits': {
    eni: one({ ...whole, prefixes: ['10.0.0.37/28'] }),
    shows: members,
    interfaces: ['eni-1'],
  },
  'a prefix of another length': {
    eni: one({ ...whole, prefixes: ['10.0.0.32/30'] }),
    shows: members.slice(0, 4),
    interfaces: ['eni-1'],
  },
  'a prefix twice': {
    eni: { enis: { 'eni-1': { prefixes: [block] }, 'eni-2': { prefixes: [block] } } },
    shows: members,
    interfaces: ['eni-1', 'eni-2'],
  },
  'an IPv6 prefix among the prefixes': {
    eni: one({ ...whole, addresses: [a], prefixes: ['fd00::/80'] }),
    shows: [a],
    interfaces: ['eni-1'],
    warnings: 1,
  },
  'a prefix that is none': {
    eni: one({ ...whole, addresses: [a], prefixes: ['10.0.0.32', '10.0.0.32/33', '10.0.0.32/28/3', 7] }),
    shows: [a],
    interfaces: ['eni-1'],
    warnings: 4,
  },
  'an IPv6 prefix, which is shown as a whole': {
    eni: one({ ...whole, addresses: [a], 'ipv6-prefixes': ['fd00::/80'] }),
    shows: [a, 'fd00::/80'],
    interfaces: ['eni-1'],
  },
  'an IPv6 prefix that is none': {
    eni: one({
      ...whole,
      addresses: [a],
      'ipv6-prefixes': ['fd00::', 'fd00::/64', 'fd00::1/80', '10.0.0.32/28', 'fd00::%1/80', 7, 'fd00::/80'],
    }),
    shows: [a, 'fd00::/80'],
    interfaces: ['eni-1'],
    warnings: 6,
  },
  'no public address, because an older agent dropped it': {
    eni: one({ ...whole, 'public-ip': null, addresses: [a] }),
    shows: [a],
    interfaces: ['eni-1'],
  },
  'unknown fields': {
    eni: { more: 1, enis: { 'eni-1': { ...whole, novelty: [a], addresses: [b] } } },
    shows: [b],
    interfaces: ['eni-1'],
  },
  'only ids and addresses, torn by a writer that replaced it': {
    eni: one({ id: 'eni-1', addresses: [a] }),
    shows: [a],
    interfaces: ['eni-1'],
  },
  'an interface without a MAC address': {
    eni: one({ ...whole, mac: '', addresses: [a] }),
    shows: [a],
    interfaces: ['eni-1'],
  },
  'an interface without a subnet': {
    eni: one({ ...whole, subnet: null, addresses: [a] }),
    shows: [a],
    interfaces: ['eni-1'],
  },
  'an interface without a network': {
    eni: one({ ...whole, vpc: {}, addresses: [a] }),
    shows: [a],
    interfaces: ['eni-1'],
  },
  'an interface without a primary address': {
    eni: one({ ...whole, ip: '', addresses: [a] }),
    shows: [a],
    interfaces: ['eni-1'],
  },
  'an interface under the id of another one': {
    eni: { enis: { 'eni-2': { ...whole, addresses: [a] } } },
    shows: [a],
    interfaces: ['eni-2'],
  },
  'an interface without any id': {
    eni: { enis: { '': { ...whole, addresses: [a] } } },
    shows: [a],
    interfaces: [''],
  },
  'an interface whose id is a member of every object': {
    eni: { enis: { constructor: { addresses: [a] }, toString: { addresses: [b] } } },
    shows: [a, b],
    interfaces: ['constructor', 'toString'],
  },
  'an interface that is null': {
    eni: { enis: { 'eni-1': { ...whole, addresses: [a] }, 'eni-2': null } },
    shows: [a],
    interfaces: ['eni-1'],
    warnings: 1,
  },
  'an interface that is a text': {
    eni: { enis: { 'eni-1': { ...whole, addresses: [a] }, 'eni-2': 'x' } },
    shows: [a],
    interfaces: ['eni-1'],
    warnings: 1,
  },
  'an interface that is a list': {
    eni: { enis: { 'eni-1': { ...whole, addresses: [a] }, 'eni-2': [b] } },
    shows: [a],
    interfaces: ['eni-1'],
    warnings: 1,
  },
  'addresses that are null': { eni: one({ ...whole, addresses: null }), shows: [], interfaces: ['eni-1'] },
  'addresses in a text': {
    eni: one({ ...whole, addresses: a, prefixes: block }),
    shows: [],
    interfaces: ['eni-1'],
    warnings: 2,
  },
  'addresses in a map': {
    eni: one({ ...whole, addresses: { 0: a } }),
    shows: [],
    interfaces: ['eni-1'],
    warnings: 1,
  },
  'what is no address among addresses': {
    eni: one({ ...whole, addresses: [a, 'x', null, 7, '', { ip: b }, [b], '10.0.0.256', b] }),
    shows: [a, b],
    interfaces: ['eni-1'],
    warnings: 7,
  },
  'an address with leading zeros, which agents reject': {
    eni: one({ ...whole, addresses: ['010.0.0.10', '10.0.0.010', b] }),
    shows: [b],
    interfaces: ['eni-1'],
    warnings: 2,
  },
  'an address with spaces': {
    eni: one({ ...whole, addresses: [` ${a}`, `${b}\n`] }),
    shows: [],
    interfaces: ['eni-1'],
    warnings: 2,
  },
  'an address with a length': {
    eni: one({ ...whole, addresses: [`${a}/32`] }),
    shows: [],
    interfaces: ['eni-1'],
    warnings: 1,
  },
  'an IPv6 address': {
    eni: one({ ...whole, addresses: ['fd00::1', a] }),
    shows: [a],
    interfaces: ['eni-1'],
    warnings: 1,
  },
  'addresses of no network of the node': {
    eni: one({ ...whole, addresses: ['192.0.2.1', '0.0.0.0', '255.255.255.255'] }),
    shows: ['192.0.2.1', '0.0.0.0', '255.255.255.255'],
    interfaces: ['eni-1'],
  },
};
