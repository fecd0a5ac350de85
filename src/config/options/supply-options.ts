// Options that say what is supplied to the nodes, and from what.
import type { OptionRow } from '../option-row.ts';
import { duration, list, oneOf, onlyTrue, tagFilter, text } from '../value-kinds.ts';

const hour = 3_600_000;

export const supplyOptions = {
  ipam: {
    kind: oneOf(['eni']),
    origin: 'operator',
    group: 'supply',
    help: 'The cloud network that addresses are taken from. It must be the mode that the Cilium agents run in.',
    default: 'eni',
    fromConfigDir: true,
  },
  'enable-ipv4': {
    kind: onlyTrue('Headwater supplies IPv4 addresses'),
    origin: 'operator',
    group: 'supply',
    help: 'Whether IPv4 addresses are supplied. There is nothing else to do, so that a cluster without IPv4 is refused.',
    default: 'true',
    fromConfigDir: true,
  },
  'cluster-name': {
    kind: text('name', /^[\w.:/@-]{1,128}$/, '1 to 128 letters, digits and characters of . _ : / @ -'),
    origin: 'operator',
    group: 'supply',
    help: 'Name of the cluster, written into the tags of the network interfaces that Headwater creates. Give each cluster of an account its own: interfaces that are left over are collected only for a cluster with another name than default.',
    default: 'default',
    fromConfigDir: true,
  },
  'subnet-ids-filter': {
    kind: list('subnet-...,...', /^subnet-[\da-f]{8,17}$/, 'subnet ids separated by commas or spaces'),
    origin: 'operator',
    group: 'supply',
    help: 'The only subnets in which interfaces are created and addresses taken. Empty means all subnets of the VPC. What a CiliumNode asks for narrows it further.',
    default: '',
    fromConfigDir: true,
  },
  'subnet-tags-filter': {
    kind: tagFilter,
    origin: 'operator',
    group: 'supply',
    help: 'Only subnets that carry all of these tags are used. Empty means all subnets of the VPC.',
    default: '',
    fromConfigDir: true,
  },
  'instance-tags-filter': {
    kind: tagFilter,
    origin: 'operator',
    group: 'supply',
    help: "Only instances that carry all of these tags are looked at. Set it where one VPC holds many instances that are not this cluster's: listings get shorter. A node whose instance lacks a tag gets no addresses.",
    default: '',
    fromConfigDir: true,
  },
  'resync-interval': {
    kind: duration({ least: 10_000, most: 24 * hour }),
    origin: 'headwater',
    group: 'supply',
    help: 'Time between two full listings of the cloud. Between them the inventory follows from the answers to every call and from looks at single instances, so that a shorter interval only finds sooner what others changed by hand, at the price of more calls.',
    default: '10m',
    fromConfigDir: true,
  },
} as const satisfies Record<string, OptionRow>;
