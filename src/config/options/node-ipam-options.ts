// Options of the command nodeipam. Their names and meanings are those of kube-controller-manager.
import type { OptionRow } from '../option-row.ts';
import { endpoint, httpUrl, integer, list, oneOf, onlyTrue, text } from '../value-kinds.ts';

const networks = list('cidr,...', /^[^\s,]+$/, 'one CIDR, or one of each family separated by a comma');

export const nodeIpamOptions = {
  'cidr-allocator-type': {
    kind: oneOf(['RangeAllocator', 'CloudAllocator', 'IPAMFromCluster', 'IPAMFromCloud']),
    origin: 'headwater',
    group: 'nodeipam',
    help: 'Where the CIDRs of Nodes come from. RangeAllocator gives out blocks of cluster-cidr. CloudAllocator takes what the cloud of cloud-provider routes to the instance of each Node. The others are not built, and end the start with exit code 2.',
    default: 'RangeAllocator',
    fromConfigDir: true,
  },
  'cloud-provider': {
    kind: oneOf(['aws', 'gce', 'azure', 'alibabacloud']),
    origin: 'headwater',
    group: 'nodeipam',
    help: 'The cloud that CloudAllocator follows. aws: prefixes of the primary interface, IPv6 /80 and IPv4 /28. gce: alias IP ranges of the first interface, and the first /112 of its IPv6 range; tested on a model of Compute Engine only. The others end the start with exit code 2: Azure and Alibaba Cloud route no blocks to an instance.',
    fromConfigDir: true,
  },
  'gce-api-endpoint': {
    kind: endpoint,
    origin: 'headwater',
    group: 'nodeipam',
    help: 'Where Compute Engine is called, with the version in the path. Set it for a private endpoint (a bare host name means https).',
    default: 'https://compute.googleapis.com/compute/v1',
    fromConfigDir: true,
  },
  'gce-metadata-endpoint': {
    kind: httpUrl,
    origin: 'headwater',
    group: 'nodeipam',
    help: 'Where the metadata service of Google Cloud gives the token for Compute Engine. Set it only if something else stands in for that service.',
    default: 'http://169.254.169.254',
    fromConfigDir: true,
  },
  'cluster-cidr': {
    kind: networks,
    origin: 'headwater',
    group: 'nodeipam',
    help: 'The network that the CIDRs of Nodes come from, or one of each family; the first family is the primary one.',
    default: '',
    fromConfigDir: true,
  },
  'service-cluster-ip-range': {
    kind: networks,
    origin: 'headwater',
    group: 'nodeipam',
    help: 'The addresses of Services, or one network of each family. Blocks that overlap them are never given out.',
    default: '',
    fromConfigDir: true,
  },
  'secondary-service-cluster-ip-range': {
    kind: networks,
    origin: 'headwater',
    group: 'nodeipam',
    help: 'The addresses of Services of the other family, if service-cluster-ip-range names only one.',
    default: '',
    fromConfigDir: true,
  },
  'node-cidr-mask-size': {
    kind: integer({ min: 1, max: 128 }),
    origin: 'headwater',
    group: 'nodeipam',
    help: 'Prefix length of the CIDR of a Node, with one cluster-cidr. With two, set it for each family.',
    fromConfigDir: true,
  },
  'node-cidr-mask-size-ipv4': {
    kind: integer({ min: 1, max: 32 }),
    origin: 'headwater',
    group: 'nodeipam',
    help: 'Prefix length of the IPv4 CIDR of a Node.',
    default: '24',
    fromConfigDir: true,
  },
  'node-cidr-mask-size-ipv6': {
    kind: integer({ min: 1, max: 128 }),
    origin: 'headwater',
    group: 'nodeipam',
    help: 'Prefix length of the IPv6 CIDR of a Node, at most 16 more than that of its network.',
    default: '64',
    fromConfigDir: true,
  },
  'allocate-node-cidrs': {
    kind: onlyTrue('the command does nothing else'),
    origin: 'headwater',
    group: 'nodeipam',
    help: 'Gives CIDRs to Nodes. It exists so that the flags of a kube-controller-manager can be kept.',
    default: 'true',
    fromConfigDir: true,
  },
  kubeconfig: {
    kind: text('path', /./, 'a path'),
    origin: 'headwater',
    group: 'nodeipam',
    help: 'The same as k8s-kubeconfig-path, which takes precedence.',
    fromConfigDir: true,
  },
} as const satisfies Record<string, OptionRow>;
