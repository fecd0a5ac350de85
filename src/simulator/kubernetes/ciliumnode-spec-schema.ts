// The schema of a CiliumNode's spec: what a node is and what it requests.
import {
  allocationByAddress,
  count,
  described,
  flag,
  integer,
  listOf,
  struct,
  text,
  textByName,
  texts,
} from './ciliumnode-schema-parts.ts';
import type { StructuralSchema } from './schema/structural-schema.ts';

const requestedPool: StructuralSchema = {
  ...struct({
    pool: { type: 'string', minLength: 1 },
    needed: struct({ 'ipv4-addrs': integer, 'ipv6-addrs': integer }),
  }),
  required: ['pool'],
};

const allocatedPool: StructuralSchema = {
  ...struct({
    pool: { type: 'string', minLength: 1 },
    allowFirstIP: flag,
    allowLastIP: flag,
    cidrs: listOf({ type: 'string', format: 'cidr' }),
  }),
  required: ['pool'],
};

const ipam = described(
  'Addresses of the node and how many of them it wants.',
  struct({
    pool: described('IPv4 addresses that pods of this node may use.', allocationByAddress),
    'ipv6-pool': described('IPv6 addresses that pods of this node may use.', allocationByAddress),
    pools: struct({
      requested: described('Addresses wanted from each pool.', listOf(requestedPool)),
      allocated: described('CIDRs that the agent holds of each pool.', listOf(allocatedPool)),
    }),
    podCIDRs: described('CIDRs of the node where the cluster has a pool of CIDRs.', texts),
    'min-allocate': described('Addresses to have as soon as the node starts.', count),
    'max-allocate': described('Addresses never to exceed; 0 stands for what the instance can hold.', count),
    'pre-allocate': described('Free addresses to keep ready.', count),
    'max-above-watermark': described('Addresses to take beyond the need at once.', count),
    'static-ip-tags': described('Tags of the public address for the primary interface.', textByName),
  }),
);

const eni = described(
  'What the agent knows of its EC2 instance and wants of new interfaces.',
  struct({
    'instance-id': text,
    'instance-type': text,
    'min-allocate': count,
    'pre-allocate': count,
    'max-above-watermark': count,
    'first-interface-index': count,
    'security-groups': texts,
    'security-group-tags': textByName,
    'subnet-ids': texts,
    'subnet-tags': textByName,
    'node-subnet-id': text,
    'vpc-id': text,
    'availability-zone': text,
    'exclude-interface-tags': textByName,
    'delete-on-termination': flag,
    'use-primary-address': flag,
    'disable-prefix-delegation': flag,
  }),
);

const alibabaCloud = described(
  'What the agent knows of its ECS instance and wants of new interfaces.',
  struct({
    'instance-type': text,
    'availability-zone': text,
    'vpc-id': text,
    'cidr-block': text,
    vswitches: texts,
    'vswitch-tags': textByName,
    'security-groups': texts,
    'security-group-tags': textByName,
  }),
);

const addressPair = struct({ ipv4: text, ipv6: text });

export const ciliumNodeSpecSchema: StructuralSchema = described(
  'What the node is and what it asks for.',
  struct({
    addresses: described('Addresses of the node itself.', listOf(struct({ type: text, ip: text }))),
    'alibaba-cloud': alibabaCloud,
    azure: described(
      'What the agent wants of Azure.',
      struct({ 'interface-name': described('The interface to assign addresses to.', text) }),
    ),
    bootid: described('Changes each time the machine starts.', text),
    encryption: struct({ key: described('Index of the encryption key in use.', integer) }),
    eni,
    health: described('Addresses of the health endpoint.', addressPair),
    ingress: described('Addresses of the ingress listener.', addressPair),
    'instance-id': described('The machine, as its cloud calls it.', text),
    ipam,
    nodeidentity: described('Numeric identity of the node.', { type: 'integer', format: 'int64' }),
  }),
);
