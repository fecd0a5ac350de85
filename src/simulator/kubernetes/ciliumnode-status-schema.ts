// The schema of a CiliumNode's status: what the node has.
import {
  allocationByAddress,
  described,
  flag,
  integer,
  listOf,
  mapOf,
  struct,
  text,
  textByName,
  texts,
} from './ciliumnode-schema-parts.ts';
import type { StructuralSchema } from './schema/structural-schema.ts';

const releaseByAddress = mapOf({
  type: 'string',
  enum: ['marked-for-release', 'ready-for-release', 'do-not-release', 'released'],
});

const ipam = described(
  'Addresses in use and addresses on their way out.',
  struct({
    used: described('IPv4 addresses that the agent has handed out.', allocationByAddress),
    'ipv6-used': described('IPv6 addresses that the agent has handed out.', allocationByAddress),
    'release-ips': described('How far the release of each IPv4 address has come.', releaseByAddress),
    'release-ipv6s': described('How far the release of each IPv6 address has come.', releaseByAddress),
    'operator-status': struct({ error: described('Why addresses could not be had.', text) }),
    'assigned-static-ip': described('Public address of the primary interface.', text),
    'pod-cidrs': mapOf(struct({ status: { type: 'string', enum: ['released', 'depleted', 'in-use'] } })),
  }),
);

const eni = described(
  'Interfaces of the EC2 instance, by their id.',
  struct({
    enis: mapOf(
      struct({
        id: text,
        ip: text,
        mac: text,
        'availability-zone': text,
        description: text,
        number: integer,
        subnet: struct({ id: text, cidr: text }),
        vpc: struct({ id: text, 'primary-cidr': text, cidrs: texts }),
        addresses: texts,
        prefixes: texts,
        'ipv6-prefixes': texts,
        'security-groups': texts,
        tags: textByName,
        'public-ip': text,
      }),
    ),
  }),
);

const azure = described(
  'Interfaces of the Azure machine.',
  struct({
    interfaces: listOf(
      struct({
        id: text,
        name: text,
        mac: text,
        state: text,
        ip: text,
        subnet: struct({ id: text, cidr: text }),
        addresses: listOf(struct({ ip: text, subnet: text, state: text })),
        'security-group': text,
        GatewayIP: text,
        gateway: text,
        cidr: text,
      }),
    ),
  }),
);

const alibabaCloud = described(
  'Interfaces of the ECS instance, by their id.',
  struct({
    enis: mapOf(
      struct({
        'network-interface-id': text,
        'mac-address': text,
        type: text,
        'instance-id': text,
        'security-groupids': texts,
        vpc: struct({ 'vpc-id': text, cidr: text, 'ipv6-cidr': text, 'secondary-cidrs': texts }),
        'zone-id': text,
        vswitch: struct({ 'vswitch-id': text, cidr: text, 'ipv6-cidr': text }),
        'primary-ip-address': text,
        'private-ipsets': listOf(struct({ 'private-ip-address': text, primary: flag })),
        tags: textByName,
      }),
    ),
  }),
);

export const ciliumNodeStatusSchema: StructuralSchema = described(
  'What the node has.',
  struct({ 'alibaba-cloud': alibabaCloud, azure, eni, ipam }),
);
