// Options that decide what nodes get, and from where.
import { cloudModes, makesInterfaces } from '../clouds/clouds.ts';
import { clusterName } from '../cluster-name.ts';
import { optionRows } from '../option-row.ts';
import { boolean, duration, list, oneOf, tagFilter } from '../value-kinds.ts';

const hour = 3_600_000;

export const allocationOptions = optionRows(
  { origin: 'operator', group: 'allocation' },
  {
    ipam: {
      kind: oneOf([...cloudModes, 'cluster-pool', 'multi-pool']),
      help: 'Where addresses come from: eni for interfaces of AWS, azure for those of Azure, alibabacloud for those of Alibaba Cloud, cluster-pool for a block of a network of its own for each node, multi-pool for blocks of CiliumPodIPPools as agents ask for them, both without any cloud. It must be the mode of the Cilium agents.',
      default: 'eni',
    },
    'enable-ipv4': {
      kind: boolean,
      help: 'Supplies IPv4 addresses. On clouds it cannot be off. With ipam=cluster-pool, if unset, it is on if cluster-pool-ipv4-cidr is set. Ignored with ipam=multi-pool.',
    },
    'cluster-name': {
      kind: clusterName,
      help: 'Name of the cluster, written to the tags of the network interfaces that Headwater creates. Give each cluster of an account its own name: orphaned interfaces are deleted only if the name is not default. On EKS, tag=aws:eks:cluster-name takes the name that EKS gives the instances of the Nodes, read at the start: as long as they carry none, or several, the process is not ready and changes nothing. A new leader reads it again, and then once an hour: while the instances do not confirm it, no orphaned interface is deleted.',
      default: 'default',
    },
    'subnet-ids-filter': {
      kind: list(
        'subnet-...,...',
        /^(subnet-[\da-f]{8,17}|vsw-[\da-z-]{1,60})$/,
        'ids of subnets or vSwitches, separated by commas or spaces',
      ),
      cloud: makesInterfaces,
      help: 'The only subnets, on Alibaba Cloud vSwitches, that interfaces and addresses come from. Empty means all subnets of the VPC. The selection of a CiliumNode narrows it further.',
      default: '',
    },
    'subnet-tags-filter': {
      kind: tagFilter,
      cloud: makesInterfaces,
      help: 'Uses only subnets, on Alibaba Cloud vSwitches, that carry all of these tags. Empty means all subnets of the VPC.',
      default: '',
    },
    'instance-tags-filter': {
      kind: tagFilter,
      cloud: makesInterfaces,
      help: 'Reads only instances that carry all of these tags. Set it if a VPC holds many other instances: listings get shorter. A node whose instance lacks a tag gets no addresses.',
      default: '',
    },
    'skip-unreadable-items': {
      kind: boolean,
      origin: 'headwater',
      cloud: makesInterfaces,
      help: 'Skips every item of an answer that has another form than the vendor documents, and counts it in headwater_unreadable_items. By default, an answer in which more than a quarter has another form proves nothing and is asked for again. Set it only where the account holds many such items and no listing succeeds. An interface that is skipped keeps its slot and the addresses that its node had of it.',
      default: 'false',
    },
    'resync-interval': {
      kind: duration({ min: 10_000, max: 24 * hour }),
      origin: 'headwater',
      help: 'Time between two full listings of the cloud. In between, Headwater follows the answers to its own calls and reads single instances. A shorter interval only finds manual changes sooner, and costs more calls.',
      default: '10m',
    },
  },
);
