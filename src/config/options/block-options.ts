// Options of blocks to nodes under Cilium agents: the mode cluster-pool.
import type { OptionRow } from '../option-row.ts';
import { boolean, duration, integer, list } from '../value-kinds.ts';

const hour = 3_600_000;

/** A CIDR is read later, where the refusal can say what is wrong with it. */
const cidrs = list('cidr,...', /^[^\s,]+$/, 'CIDRs separated by commas or spaces, such as 10.0.0.0/8');

export const blockOptions = {
  'enable-ipv6': {
    kind: boolean,
    origin: 'operator',
    group: 'blocks',
    help: 'Gives each node an IPv6 block with ipam=cluster-pool. If unset, it is on if cluster-pool-ipv6-cidr is set. Other modes ignore it.',
    fromConfigDir: true,
  },
  'cluster-pool-ipv4-cidr': {
    kind: cidrs,
    origin: 'operator',
    group: 'blocks',
    help: 'The networks that IPv4 blocks come from, used in this order. Add one when blocks run out; never remove or shorten one that nodes have blocks of.',
    default: '',
    fromConfigDir: true,
  },
  'cluster-pool-ipv4-mask-size': {
    kind: integer({ least: 1, most: 32 }),
    origin: 'operator',
    group: 'blocks',
    help: 'Prefix length of an IPv4 block. It sets how many pods a node can have: 24 for 254. Changing it affects new nodes only.',
    default: '24',
    fromConfigDir: true,
  },
  'cluster-pool-ipv6-cidr': {
    kind: cidrs,
    origin: 'operator',
    group: 'blocks',
    help: 'The networks that IPv6 blocks come from, used in this order.',
    default: '',
    fromConfigDir: true,
  },
  'cluster-pool-ipv6-mask-size': {
    kind: integer({ least: 1, most: 128 }),
    origin: 'operator',
    group: 'blocks',
    help: 'Prefix length of an IPv6 block, at most 16 more than that of its network.',
    default: '112',
    fromConfigDir: true,
  },
  'nodes-gc-interval': {
    kind: duration({ least: 10_000, most: 24 * hour, never: true }),
    origin: 'operator',
    group: 'blocks',
    help: 'How often CiliumNodes without a Node are looked for. One that two passes find, and that nothing owns, is deleted, and its block is free again. 0 keeps them for good.',
    default: '5m',
    fromConfigDir: true,
  },
  'skip-crd-creation': {
    kind: boolean,
    origin: 'operator',
    group: 'blocks',
    help: 'Leaves the definition of CiliumNodes to others. Without it, Headwater creates an absent one, and a cilium-operator replaces it by its own.',
    default: 'false',
    fromConfigDir: true,
  },
  'operator-k8s-client-qps': {
    kind: integer({ least: 0, most: 100_000 }),
    origin: 'operator',
    group: 'blocks',
    help: 'The most requests a second to the API server, in the long run; 0 for no limit. The API server protects itself, so a limit only makes new nodes wait.',
    default: '0',
    fromConfigDir: true,
  },
  'operator-k8s-client-burst': {
    kind: integer({ least: 1, most: 100_000 }),
    origin: 'operator',
    group: 'blocks',
    help: 'How many requests may be sent at once before operator-k8s-client-qps slows them down. If unset, twice that option.',
    fromConfigDir: true,
  },
} as const satisfies Record<string, OptionRow>;
