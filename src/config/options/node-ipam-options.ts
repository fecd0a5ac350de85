// Options of the command nodeipam. Their names and meanings are those of kube-controller-manager.
import { optionRows } from '../option-row.ts';
import { duration, endpoint, httpUrl, integer, list, oneOf, onlyTrue, text } from '../value-kinds.ts';

const networks = list('cidr,...', /^[^\s,]+$/, 'one CIDR, or one of each family separated by a comma');

export const nodeIpamOptions = optionRows(
  { origin: 'headwater', group: 'nodeipam' },
  {
    'cidr-allocator-type': {
      kind: oneOf(['RangeAllocator', 'CloudAllocator', 'IPAMFromCluster', 'IPAMFromCloud']),
      help: 'Where the CIDRs of Nodes come from. RangeAllocator gives out blocks of cluster-cidr. CloudAllocator takes what the cloud of cloud-provider routes to the instance of each Node. IPAMFromCluster gives out blocks of cluster-cidr and has the cloud route each to the instance. IPAMFromCloud takes what the cloud routes there, and it must lie within cluster-cidr.',
      default: 'RangeAllocator',
    },
    'cloud-provider': {
      kind: oneOf(['aws', 'gce', 'azure', 'alibabacloud']),
      help: 'The cloud that all allocator types but RangeAllocator follow. aws: prefixes of the primary interface, IPv6 /80 and IPv4 /28. gce: alias IP ranges of the first interface, and the first /112 of its IPv6 range; tested on a model of Compute Engine only. The others end the start with exit code 2: Azure and Alibaba Cloud route no blocks to an instance.',
      unsetBy: { external: 'no cloud is followed: that of the Nodes has a controller manager of its own' },
    },
    'gce-api-endpoint': {
      kind: endpoint,
      help: 'Where Compute Engine is called, with the version in the path. Set it for a private endpoint (a bare host name means https).',
      default: 'https://compute.googleapis.com/compute/v1',
    },
    'gce-metadata-endpoint': {
      kind: httpUrl,
      help: 'Where the metadata service of Google Cloud gives the token for Compute Engine. Set it only if something else stands in for that service.',
      default: 'http://169.254.169.254',
    },
    'cluster-cidr': {
      kind: networks,
      help: 'The network that the CIDRs of Nodes come from, or one of each family; the first family is the primary one.',
      default: '',
    },
    'service-cluster-ip-range': {
      kind: networks,
      help: 'The addresses of Services, or one network of each family. Blocks that overlap them are never given out.',
      default: '',
    },
    'secondary-service-cluster-ip-range': {
      kind: networks,
      help: 'The addresses of Services of the other family, if service-cluster-ip-range names only one.',
      default: '',
    },
    'node-cidr-mask-size': {
      kind: integer({ min: 1, max: 128 }),
      help: 'Prefix length of the CIDR of a Node, with one cluster-cidr. With two, set it for each family.',
      unsetBy: { '0': 'it leaves the size as if it were not set' },
    },
    'node-cidr-mask-size-ipv4': {
      kind: integer({ min: 1, max: 32 }),
      help: 'Prefix length of the IPv4 CIDR of a Node.',
      unsetBy: { '0': 'it leaves the size as if it were not set' },
      default: '24',
    },
    'node-cidr-mask-size-ipv6': {
      kind: integer({ min: 1, max: 128 }),
      help: 'Prefix length of the IPv6 CIDR of a Node, at most 16 more than that of its network.',
      unsetBy: { '0': 'it leaves the size as if it were not set' },
      default: '64',
    },
    'allocate-node-cidrs': {
      kind: onlyTrue('the command does nothing else'),
      help: 'Gives CIDRs to Nodes. It exists so that the flags of a kube-controller-manager can be kept.',
      default: 'true',
    },
    'node-sync-resync': {
      kind: duration({ min: 1000, max: 24 * 3_600_000 }),
      help: 'With IPAMFromCluster and IPAMFromCloud: how long after a success a Node and the cloud are compared again.',
      default: '30s',
    },
    'node-sync-initial-retry': {
      kind: duration({ min: 10, max: 3_600_000 }),
      help: 'The same after the first error. Each further error in a row doubles it.',
      default: '250ms',
    },
    'node-sync-max-backoff': {
      kind: duration({ min: 10, max: 3_600_000 }),
      help: 'The same after any number of errors in a row.',
      default: '10s',
    },
    kubeconfig: {
      kind: text('path', /./, 'a path'),
      help: 'The same as k8s-kubeconfig-path, which takes precedence.',
    },
  },
);
