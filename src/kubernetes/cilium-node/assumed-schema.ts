// The fields that we write and that every CiliumNode definition in use has: the schema to assume when the definition is
// unreadable. Newer fields (public-ip, ipv6-prefixes, assigned-static-ip) are absent. An API server that does not know
// them drops them, and we would send the same difference again and again.
import { anything, type StructuralSchema } from './structural-schema.ts';

const value = anything;

function object(fields: Readonly<Record<string, StructuralSchema>>): StructuralSchema {
  return { fields: new Map(Object.entries(fields)), open: false };
}

function values(...names: readonly string[]): Readonly<Record<string, StructuralSchema>> {
  return Object.fromEntries(names.map((name) => [name, value] as const));
}

function mapOf(entries: StructuralSchema): StructuralSchema {
  return { fields: new Map(), entries, open: false };
}

function listOf(items: StructuralSchema): StructuralSchema {
  return { fields: new Map(), items, open: false };
}

const eni = object({
  ...values('id', 'ip', 'mac', 'availability-zone', 'description', 'number'),
  addresses: listOf(value),
  prefixes: listOf(value),
  'security-groups': listOf(value),
  subnet: object(values('id', 'cidr')),
  tags: mapOf(value),
  vpc: object({ ...values('id', 'primary-cidr'), cidrs: listOf(value) }),
});

const azureInterface = object({
  ...values('id', 'name', 'mac', 'state', 'security-group', 'GatewayIP', 'gateway', 'cidr'),
  addresses: listOf(object(values('ip', 'subnet', 'state'))),
});

const alibabaEni = object({
  ...values('network-interface-id', 'mac-address', 'type', 'instance-id', 'zone-id', 'primary-ip-address'),
  'security-groupids': listOf(value),
  vpc: object(values('vpc-id', 'cidr', 'ipv6-cidr')),
  vswitch: object(values('vswitch-id', 'cidr', 'ipv6-cidr')),
  'private-ipsets': listOf(object(values('private-ip-address', 'primary'))),
  tags: mapOf(value),
});

export const assumedSchema = object({
  spec: object({
    ipam: object({ ...values('pre-allocate'), pool: mapOf(object(values('owner', 'resource'))) }),
  }),
  status: object({
    eni: object({ enis: mapOf(eni) }),
    azure: object({ interfaces: listOf(azureInterface) }),
    'alibaba-cloud': object({ enis: mapOf(alibabaEni) }),
    ipam: object({
      'operator-status': object(values('error')),
      'release-ips': mapOf(value),
    }),
  }),
});
