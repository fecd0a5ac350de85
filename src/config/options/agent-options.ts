// Options of the command agent. Those that the Cilium agent has keep its names and meanings.
import { cloudModes } from '../clouds/clouds.ts';
import { type FoundDefault, optionRows } from '../option-row.ts';
import { boolean, duration, integer, list, listenAddress, oneOf, text } from '../value-kinds.ts';

/** Where the addresses of a node come from: the modes of the Cilium agent, and host-scope, which needs no Kubernetes. */
export const agentModes = [
  'kubernetes',
  'cluster-pool',
  'multi-pool',
  'crd',
  ...cloudModes,
  'delegated-plugin',
  'host-scope',
] as const;

export type AgentMode = (typeof agentModes)[number];

/** Instead of that of the table, whose values are those of the command run. */
export const agentModeRow = {
  kind: oneOf(agentModes),
  default: 'kubernetes',
  help: 'Where the addresses of this node come from. kubernetes: the podCIDRs of its Node. cluster-pool: the podCIDRs of its CiliumNode. multi-pool: blocks of the CiliumPodIPPools that its pods name. crd, eni, azure and alibabacloud: single addresses of its CiliumNode, with those of interfaces of a cloud. delegated-plugin: from elsewhere, so REST answers 501. host-scope: the blocks that the options name, without Kubernetes.',
} as const;

const path = text('path', /^\/./, 'an absolute path');
const hour = 3_600_000;

const nodeName = /^[a-z\d]([a-z\d.-]{0,251}[a-z\d])?$/;
/** For a machine whose name no Node can have. */
const noName = 'localhost';

const hostName: FoundDefault = {
  words: 'the name of this machine',
  find: (processEnvironment) => {
    try {
      const name = processEnvironment.readFile('/proc/sys/kernel/hostname').trim().toLowerCase();
      return nodeName.test(name) ? name : noName;
    } catch {
      return noName; // no Linux
    }
  },
};

export const agentOptions = optionRows(
  { origin: 'headwater', group: 'agent', fromConfigDir: false },
  {
    'node-name': {
      kind: text('name', nodeName, 'the name of a Node: up to 253 of a-z, 0-9, - and .'),
      legacyVariable: 'K8S_NODE_NAME',
      help: 'The Node that this agent is for.',
      default: hostName,
    },
    'socket-path': {
      kind: path,
      help: 'The Unix socket that the plugin and other clients connect to. Its directory is made. A socket without a listener is replaced.',
      default: '/var/run/headwater/agent.sock',
    },
    'state-dir': {
      kind: path,
      help: 'What is held, so that it survives a restart of the agent: a directory for each boot of the machine, of which earlier ones are removed. Each agent needs its own.',
      default: '/var/lib/headwater/agent',
    },
    'boot-id-file': {
      kind: path,
      help: 'The file that names the boot of this machine.',
      default: '/proc/sys/kernel/random/boot_id',
    },
    'ipv4-range': {
      kind: text('cidr', /^\d[\d./]{1,48}$/, 'an IPv4 CIDR, such as 10.10.0.0/24'),
      origin: 'operator',
      help: 'The IPv4 block of this node. host-scope needs this option or ipv6-range; kubernetes and cluster-pool use it in place of the block that Kubernetes shows.',
    },
    'ipv6-range': {
      kind: text('cidr', /^[\da-fA-F:][\da-fA-F:./]{1,62}$/, 'an IPv6 CIDR, such as fd00:10::/112'),
      origin: 'operator',
      help: 'The IPv6 block of this node, as ipv4-range.',
    },
    'exclude-ips': {
      kind: list(
        'address,...',
        /^(?:[a-z\d][a-z\d.-]{0,252}=)?[\da-fA-F:.]{2,45}(?:\/\d{1,3})?$/,
        'addresses and networks separated by commas or spaces, perhaps each with a pool before it, as in default=10.0.0.8/29',
      ),
      help: 'Addresses and networks that are never given out. With a pool before it (POOL=ADDRESS), it is left out of that pool alone.',
      default: '',
    },
    'resolv-conf-directories': {
      kind: list('path,...', /^\/./, 'absolute paths separated by commas or spaces'),
      help: 'Where a file must be that a network names as ipam.resolvConf. A link counts as what it leads to.',
      default: '/etc,/run/systemd/resolve',
    },
    'auto-create-cilium-node-resource': {
      kind: boolean,
      origin: 'operator',
      help: 'Creates the CiliumNode of this node, owned by its Node, if there is none. It names the instance of the Node, its type and its zone.',
      default: 'true',
      fromConfigDir: true,
    },
    'cilium-node-spec': {
      kind: path,
      help: 'A file with the rest of the spec of a CiliumNode that is created, as JSON: networks, security groups and watermarks of a cloud.',
    },
    'cilium-node-protocol': {
      kind: oneOf(['used', 'pools']),
      help: 'How addresses of a cloud are requested and released. used: as Cilium agents up to 1.19 do, by the addresses in use and the handshake in the status of the CiliumNode. pools: as those from 1.20 do, by a count and by what is held. With ipam=eni, azure and alibabacloud.',
      default: 'used',
      fromConfigDir: true,
    },
    'ipam-cilium-node-update-rate': {
      kind: duration({ min: 1000, max: hour }),
      origin: 'operator',
      help: 'The least time between two writes to the CiliumNode of this node. While a pod waits it is a second.',
      default: '15s',
      fromConfigDir: true,
    },
    'ipam-multi-pool-pre-allocation': {
      kind: list(
        'pool=count,...',
        /^[a-z\d][a-z\d.-]{0,252}=\d{1,5}$/,
        'pairs of a pool and a count, separated by commas',
      ),
      origin: 'operator',
      help: 'With ipam=multi-pool, the free addresses of a pool that this node holds for new pods. Others get what is in use.',
      default: 'default=8',
      fromConfigDir: true,
    },
    'only-masquerade-default-pool': {
      kind: boolean,
      origin: 'operator',
      help: 'With ipam=multi-pool, says of all addresses but those of the default pool that they are not to be masqueraded. An annotation of a pool says the same of its addresses.',
      default: 'false',
      fromConfigDir: true,
    },
    'ip-cooldown-period': {
      kind: duration({ min: 0, max: hour }),
      help: 'How long a released address rests, also over a restart of the agent, before it is given again. If no other is free, it is given at once.',
      default: '30s',
      fromConfigDir: true,
    },
    'ipam-expiration': {
      kind: duration({ min: 1000, max: 24 * hour }),
      help: 'When an address is released that was requested with an expiration, and whose timer nothing stops.',
      default: '10m',
      fromConfigDir: true,
    },
    'prometheus-serve-addr': {
      kind: listenAddress,
      origin: 'operator',
      help: 'Where metrics (/metrics) are served over TCP. They are always at /metrics on the socket. While the port is taken, the agent gives addresses without them, and tries again.',
    },
    'agent-health-port': {
      kind: integer({ min: 1, max: 65_535 }),
      origin: 'operator',
      help: 'The port of 127.0.0.1 where probes are answered: /healthz while the agent lives, /readyz once it has addresses; and where `headwater status --node` reads /status. The same probes are at /v1/healthz on the socket. While the port is taken, the agent gives addresses without it, and tries again.',
    },
  },
);
