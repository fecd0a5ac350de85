// What a hostile agent can write into CiliumNodes, as a table. Each row must leave every other node unchanged.
import type { JsonObject, Json } from '../../src/simulator/workload/json.ts';

/** What an attacker knows of the cluster. */
export interface Target {
  /** The instance of another node, and the CiliumNode of that node as it is. */
  readonly victim: { readonly name: string; readonly instanceId: string; readonly node: JsonObject };
  /** An instance of the account that is no node of this cluster. */
  readonly strangerId: string;
  readonly vpcId: string;
  /** Addresses of the shared subnet. */
  readonly addresses: readonly string[];
}

/** Parts of a CiliumNode, merged into a plain one or into the attacker's own. */
export interface Strike {
  /** The instance that the plain one names; by default an instance that is no node. */
  readonly instanceId?: string;
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

export interface Attack {
  readonly what: string;
  /** One CiliumNode each. */
  readonly strikes: (target: Target) => readonly Strike[];
}

const madeUpId = 'eni-00000000000000009';

function poolOf(addresses: readonly string[], resource = madeUpId): JsonObject {
  return Object.fromEntries(addresses.map((address) => [address, { resource }]));
}

function madeUp({ vpcId, addresses }: Target): JsonObject {
  const subnet = { id: 'subnet-0000000000000000a', cidr: '10.0.0.0/24' };
  const vpc = { id: vpcId, 'primary-cidr': '10.0.0.0/16' };
  const shown = { id: madeUpId, ip: addresses[0] ?? '', mac: '02:00:00:00:00:01', number: 1, subnet, vpc };
  return { eni: { enis: { [madeUpId]: { ...shown, addresses: [...addresses] } } } };
}

function part(node: JsonObject, ...path: readonly string[]): JsonObject {
  const found = path.reduce<Json | undefined>(
    (value, member) => (value as JsonObject | undefined)?.[member],
    node,
  );
  return (found ?? {}) as JsonObject;
}

function pooledBy({ victim }: Target): readonly string[] {
  return Object.keys(part(victim.node, 'spec', 'ipam', 'pool'));
}

/** Requests a release of everything that the victim has, by an agent of either protocol. */
function givingUp(target: Target, protocol: 'crd' | 'multi-pool'): Strike {
  const { victim } = target;
  const pools = {
    requested: [{ pool: 'default', needed: { 'ipv4-addrs': 1 } }],
    allocated: [{ pool: 'default', cidrs: ['10.0.0.250/32'] }],
  };
  const agreed = Object.fromEntries(pooledBy(target).map((address) => [address, 'ready-for-release']));
  return {
    instanceId: victim.instanceId,
    spec: {
      ipam: {
        pool: poolOf(pooledBy(target)),
        'pre-allocate': 1,
        ...(protocol === 'multi-pool' && { pools }),
      },
    },
    status: {
      eni: part(victim.node, 'status', 'eni'),
      ipam: { used: {}, ...(protocol === 'crd' && { 'release-ips': agreed }) },
    },
  };
}

/** Those against whole nodes, written by hand. */
export const wholeAttacks: readonly Attack[] = [
  { what: "names another's instance", strikes: ({ victim }) => [{ instanceId: victim.instanceId }] },
  { what: 'releases all of another’s, when asked', strikes: (target) => [givingUp(target, 'crd')] },
  { what: 'releases all of another’s, unasked', strikes: (target) => [givingUp(target, 'multi-pool')] },
  {
    what: 'releases all of an instance that is no node',
    strikes: (target) => [{ ...givingUp(target, 'crd'), instanceId: target.strangerId }],
  },
  {
    what: 'names 201 networks that do not exist',
    strikes: () =>
      Array.from({ length: 201 }, (_, index) => ({
        instanceId: `i-0000000000000${String(index).padStart(4, '0')}`,
        spec: { eni: { 'vpc-id': `vpc-0000000000000${String(index).padStart(4, '0')}` } },
      })),
  },
  {
    what: 'lists the whole subnet, and cannot be read',
    strikes: ({ addresses }) => [
      { spec: { ipam: { pool: poolOf(addresses) }, eni: { 'instance-type': 'no type' } } },
    ],
  },
  {
    what: "lists the whole subnet, and another's instance",
    strikes: ({ addresses, victim }) => [
      { instanceId: victim.instanceId, spec: { ipam: { pool: poolOf(addresses) } } },
    ],
  },
  {
    what: 'lists the whole subnet',
    strikes: ({ addresses }) => [{ spec: { ipam: { pool: poolOf(addresses) } } }],
  },
  {
    what: 'lists the whole subnet on an invented interface',
    strikes: (target) => [{ spec: { ipam: { pool: poolOf(target.addresses) } }, status: madeUp(target) }],
  },
  {
    what: "lists another's pool on another's interfaces",
    strikes: (target) => [
      {
        spec: { ipam: { pool: part(target.victim.node, 'spec', 'ipam', 'pool') } },
        status: { eni: part(target.victim.node, 'status', 'eni') },
      },
    ],
  },
  {
    what: 'lists the whole subnet, and is to be ignored',
    strikes: ({ addresses }) => [
      {
        metadata: { annotations: { 'ipam.cilium.io/ignore': 'true' } },
        spec: { ipam: { pool: poolOf(addresses) } },
      },
    ],
  },
  {
    what: 'lists the whole subnet, and never goes',
    strikes: ({ addresses }) => [
      { metadata: { finalizers: ['example.com/never'] }, spec: { ipam: { pool: poolOf(addresses) } } },
    ],
  },
  {
    what: 'has thousands of pool entries',
    strikes: () => [
      {
        spec: { ipam: { pool: poolOf(Array.from({ length: 6000 }, (_, n) => `10.1.${n >> 8}.${n & 255}`)) } },
      },
    ],
  },
  {
    what: 'uses the whole subnet',
    strikes: ({ addresses }) => [{ status: { ipam: { used: poolOf(addresses) } } }],
  },
  {
    what: 'has the whole subnet released',
    strikes: ({ addresses }) => [
      {
        status: { ipam: { 'release-ips': Object.fromEntries(addresses.map((each) => [each, 'released'])) } },
      },
    ],
  },
  {
    what: 'holds the whole network as a block',
    strikes: () => [
      {
        spec: {
          ipam: { pools: { allocated: [{ pool: 'default', cidrs: ['10.0.0.0/8', '0.0.0.0/0', '::/0'] }] } },
        },
      },
    ],
  },
  {
    what: 'requests addresses without end',
    strikes: () => [
      {
        spec: {
          ipam: { pools: { requested: [{ pool: 'default', needed: { 'ipv4-addrs': 2 ** 31 - 1 } }] } },
        },
      },
    ],
  },
  {
    what: "says that another's Node owns it",
    strikes: ({ victim }) => [
      {
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: victim.name, uid: 'uid' }] },
      },
    ],
  },
];

const long = 'x'.repeat(304);
const texts: readonly (readonly [what: string, value: Json])[] = [
  ['a wildcard', '*'],
  ['a pattern', 'i-0??????????????*'],
  ['a control character', 'a\u001b[31m\nb'],
  ['__proto__', '__proto__'],
  ['a text of 304 characters', long],
  ['a text of half a megabyte', 'y'.repeat(500_000)],
  ['nothing', ''],
  ['null', null],
];

const numbers: readonly (readonly [what: string, value: Json])[] = [
  ['a huge number', 2 ** 31 - 1],
  ['a number below nothing', -1],
  ['null', null],
];

const eniText =
  (field: string) =>
  (value: Json): Strike => ({ spec: { eni: { [field]: value } } });
const eniList =
  (field: string) =>
  (value: Json): Strike => ({ spec: { eni: { [field]: [value] } } });
const eniTags =
  (field: string) =>
  (value: Json): Strike => ({
    spec: { eni: { [field]: typeof value === 'string' ? { [value]: value, Name: value } : value } },
  });
const ipamNumber =
  (field: string) =>
  (value: Json): Strike => ({ spec: { ipam: { [field]: value } } });

/** As a member of a map, which cannot be null. */
function nameOf(value: Json): string {
  return typeof value === 'string' ? value : 'null';
}

const textFields: Readonly<Record<string, (value: Json) => Strike>> = {
  'instance-id': (value) => ({ spec: { 'instance-id': value } }),
  'eni.instance-id': eniText('instance-id'),
  'instance-type': eniText('instance-type'),
  'vpc-id': eniText('vpc-id'),
  'availability-zone': eniText('availability-zone'),
  'node-subnet-id': eniText('node-subnet-id'),
  'security-groups': eniList('security-groups'),
  'subnet-ids': eniList('subnet-ids'),
  'subnet-tags': eniTags('subnet-tags'),
  'security-group-tags': eniTags('security-group-tags'),
  'exclude-interface-tags': eniTags('exclude-interface-tags'),
  'static-ip-tags': (value) => ({
    spec: { ipam: { 'static-ip-tags': typeof value === 'string' ? { [value]: value } : value } },
  }),
  pool: (value) => ({ spec: { ipam: { pool: { [nameOf(value)]: { resource: value, owner: value } } } } }),
  used: (value) => ({ status: { ipam: { used: { [nameOf(value)]: { resource: value } } } } }),
  'release-ips': (value) => ({
    status: { ipam: { 'release-ips': { [nameOf(value)]: 'ready-for-release' } } },
  }),
  'a published interface': (value) => ({
    status: { eni: { enis: { [nameOf(value)]: { id: value, ip: value } } } },
  }),
};

const numberFields: Readonly<Record<string, (value: Json) => Strike>> = {
  'pre-allocate': ipamNumber('pre-allocate'),
  'min-allocate': ipamNumber('min-allocate'),
  'max-allocate': ipamNumber('max-allocate'),
  'max-above-watermark': ipamNumber('max-above-watermark'),
  'first-interface-index': (value) => ({ spec: { eni: { 'first-interface-index': value } } }),
};

function matrix(
  fields: Readonly<Record<string, (value: Json) => Strike>>,
  values: readonly (readonly [string, Json])[],
): readonly Attack[] {
  return Object.entries(fields).map(([field, strike]) => ({
    what: `has in ${field} ${values.map(([what]) => what).join(', ')}`,
    strikes: () => values.map(([, value]) => strike(value)),
  }));
}

/** The rows written by hand, and each field with every value that does not belong there. */
export const attacks: readonly Attack[] = [
  ...wholeAttacks,
  ...matrix(textFields, texts),
  ...matrix(numberFields, numbers),
];
