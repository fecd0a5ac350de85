// Options of blocks to nodes under Cilium agents: the modes cluster-pool and multi-pool.
import { optionRows } from '../option-row.ts';
import { boolean, duration, integer, list, poolSpecs, text } from '../value-kinds.ts';

const hour = 3_600_000;

/** A CIDR is read later, where the refusal can say what is wrong with it. */
const cidrs = list('cidr,...', /^[^\s,]+$/, 'CIDRs separated by commas or spaces, such as 10.0.0.0/8');

export const blockOptions = optionRows(
  { origin: 'operator', group: 'blocks' },
  {
    'enable-ipv6': {
      kind: boolean,
      help: 'Gives each node an IPv6 block with ipam=cluster-pool. If unset, it is on if cluster-pool-ipv6-cidr is set. Other modes ignore it: pools say which families they have.',
    },
    'cluster-pool-ipv4-cidr': {
      kind: cidrs,
      help: 'The networks that IPv4 blocks come from, used in this order. Add one when blocks run out; never remove or shorten one that nodes have blocks of.',
      default: '',
    },
    'cluster-pool-ipv4-mask-size': {
      kind: integer({ min: 1, max: 32 }),
      help: 'Prefix length of an IPv4 block. It sets how many pods a node can have: 24 for 254. Changing it affects new nodes only.',
      default: '24',
    },
    'cluster-pool-ipv6-cidr': {
      kind: cidrs,
      help: 'The networks that IPv6 blocks come from, used in this order.',
      default: '',
    },
    'cluster-pool-ipv6-mask-size': {
      kind: integer({ min: 1, max: 128 }),
      help: 'Prefix length of an IPv6 block, at most 16 more than that of its network.',
      default: '112',
    },
    'max-blocks-without-node': {
      origin: 'headwater',
      kind: integer({ min: 16, max: 65_536 }),
      help: 'The most blocks of one pool and family that a CiliumNode has while there is no Node of its name. Other nodes may get what it lists beyond that, so one CiliumNode cannot take a whole pool. With a Node it keeps all it lists, and Headwater reports it if that is so many more than it asks for. It counts only while Headwater reads at least one Node.',
      default: '64',
    },
    'bigger-blocks-share': {
      origin: 'headwater',
      kind: integer({ min: 0, max: 100 }),
      help: 'The most that bigger blocks have of the blocks of a family, in percent. Labels of Nodes ask for them. One of them is given whatever its part is; 0 gives none.',
      default: '50',
    },
    'skip-crd-creation': {
      kind: boolean,
      help: 'Leaves the definitions of CiliumNodes and CiliumPodIPPools to others. Without it, Headwater creates an absent one, and a cilium-operator replaces it by its own.',
      default: 'false',
    },
    'operator-k8s-client-qps': {
      kind: integer({ min: 0, max: 100_000 }),
      help: 'The most requests a second to the API server, in the long run; 0 for no limit. The API server protects itself, so a limit only makes new nodes wait.',
      default: '0',
    },
    'operator-k8s-client-burst': {
      kind: integer({ min: 1, max: 100_000 }),
      help: 'How many requests may be sent at once before operator-k8s-client-qps slows them down. If unset, twice that option.',
    },
    'ipam-default-ip-pool': {
      kind: text(
        'name',
        /^(?=.{1,253}$)[\da-z](?:[\d.a-z-]*[\da-z])?$/,
        'the name of a pool: lower-case letters, digits, dots and dashes',
      ),
      help: 'The pool of pods that name none. A move between cluster-pool and multi-pool fills or empties it. Give agents and Headwater the same.',
      default: 'default',
    },
    'auto-create-cilium-pod-ip-pools': {
      kind: poolSpecs,
      help: 'With ipam=multi-pool: pools to create at start if there is none of their name. A pool that exists is left as it is.',
      default: '',
    },
    'enable-cluster-pool-to-multi-pool-migration': {
      kind: boolean,
      help: 'With ipam=multi-pool: at start, the blocks of CiliumNodes that cluster-pool gave move to the default pool, before anything is given out, and later those of each one that could not move then, once it can. The pool must have their networks, with the same mask size. With dry-run, it only logs what would move.',
      default: 'false',
    },
    'multi-pool-migration-workers': {
      kind: integer({ min: 1, max: 1000 }),
      help: 'How many CiliumNodes move to the default pool at once.',
      default: '16',
    },
  },
);

/** Duties beside giving out addresses, in every mode that has CiliumNodes. */
export const ciliumNodeOptions = optionRows(
  { origin: 'operator', group: 'kubernetes' },
  {
    'nodes-gc-interval': {
      kind: duration({ min: 10_000, max: 24 * hour, never: true }),
      help: 'How often CiliumNodes without a Node are looked for. One that two passes find, that did not change in between, that nothing owns, and that has no annotation cilium.io/do-not-gc: "true", is deleted: at most a tenth of all a pass. In modes of blocks, its block is free again. 0 keeps them for good.',
      default: '5m',
    },
    'manage-agent-taint': {
      origin: 'headwater',
      kind: boolean,
      help: 'Once the Cilium agent of a Node is ready, removes the taint agent-not-ready-taint-key from the Node and sets its condition NetworkUnavailable to false, as cilium-operator does. Turn it on if no cilium-operator runs: otherwise new Nodes keep that taint and get no pods.',
      default: 'false',
    },
    'agent-not-ready-taint-key': {
      kind: text('key', /^[\w./-]{1,317}$/, 'the key of a taint'),
      help: 'With manage-agent-taint: the key of the taint.',
      default: 'node.cilium.io/agent-not-ready',
    },
    'cilium-pod-labels': {
      kind: text('selector', /^[\w./=!,()-]{1,1000}$/, 'a label selector without blanks'),
      help: 'With manage-agent-taint: the labels of the pods of Cilium agents.',
      default: 'k8s-app=cilium',
    },
    'cilium-pod-namespace': {
      kind: text('namespace', /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/, 'the name of a namespace'),
      help: 'With manage-agent-taint: the namespace of the Cilium agents. If unset, k8s-namespace.',
    },
  },
);

/** Those that one of the modes does not have. */
export const onlyInClusterPool: ReadonlySet<string> = new Set<keyof typeof blockOptions>([
  'enable-ipv6',
  'cluster-pool-ipv4-cidr',
  'cluster-pool-ipv4-mask-size',
  'cluster-pool-ipv6-cidr',
  'cluster-pool-ipv6-mask-size',
  'bigger-blocks-share',
]);

export const onlyInMultiPool: ReadonlySet<string> = new Set<keyof typeof blockOptions>([
  'auto-create-cilium-pod-ip-pools',
  'enable-cluster-pool-to-multi-pool-migration',
  'multi-pool-migration-workers',
]);
