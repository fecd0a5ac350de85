// Agents of ENI mode: `spec.eni` and `status.eni`.
import type { InterfaceStatus } from '../interface-status.ts';
import { formatAddress, parseCidr } from '../ipv4.ts';
import {
  type Json,
  type JsonObject,
  numberAt,
  objectAt,
  textAt,
  textMapAt,
  textsAt,
  valueAt,
  withoutZeros,
} from '../json.ts';
import type { EniOptions, NodeFacts } from '../node-facts.ts';
import type { AgentCloud } from './agent-cloud.ts';

export const aws: AgentCloud = {
  providerIdOf: ({ zone, instanceId }) => `aws:///${zone}/${instanceId}`,
  announced: (facts) => ({ eni: eniSpec(facts, facts.eni ?? {}) }),
  isReadable: () => true,
  interfacesOf,
  exclusionOf: (node) => {
    const index = valueAt(node, 'spec', 'eni', 'first-interface-index');
    return {
      firstInterfaceIndex: typeof index === 'number' ? index : undefined,
      tags: textMapAt(node, 'spec', 'eni', 'exclude-interface-tags'),
    };
  },
  firstInterfaceIndexOf: ({ eni }) => eni?.firstInterfaceIndex ?? 0,
  usesPrimaryAddresses: false,
  writtenBack: (status) => status,
  setUpObstacle,
  awaitsCidr: false,
  networkOf: (node) => textAt(node, 'spec', 'eni', 'vpc-id'),
};

function eniSpec(facts: NodeFacts, options: EniOptions): JsonObject {
  return {
    ...withoutZeros({
      'instance-type': facts.instanceType,
      'vpc-id': facts.vpcId,
      'availability-zone': facts.zone,
      'node-subnet-id': facts.subnetId,
      'security-groups': options.securityGroups,
      'security-group-tags': options.securityGroupTags,
      'subnet-ids': options.subnetIds,
      'subnet-tags': options.subnetTags,
      'exclude-interface-tags': options.excludeInterfaceTags,
    }),
    'first-interface-index': options.namesTagsAlone === true ? 0 : (options.firstInterfaceIndex ?? 0),
    'use-primary-address': options.usePrimaryAddress ?? false,
    'delete-on-termination': options.deleteOnTermination ?? true,
    'disable-prefix-delegation': options.disablePrefixDelegation ?? false,
  };
}

/** Ordered by device index, then by id, the key in `status.eni.enis`. */
function interfacesOf(node: JsonObject): readonly InterfaceStatus[] {
  return Object.values(objectAt(node, 'status', 'eni', 'enis'))
    .map(interfaceOf)
    .toSorted((a, b) => a.number - b.number || (a.id < b.id ? -1 : 1));
}

function interfaceOf(entry: Json | undefined): InterfaceStatus {
  const mac = textAt(entry, 'mac');
  const subnet = parseCidr(textAt(entry, 'subnet', 'cidr'));
  const primaryCidr = textAt(entry, 'vpc', 'primary-cidr');
  const isRouted = parseCidr(primaryCidr) !== undefined;
  const gaps = {
    'MAC address': mac === '',
    'subnet CIDR': subnet === undefined,
    'primary VPC CIDR': !isRouted,
  };
  return {
    id: textAt(entry, 'id'),
    mac,
    number: numberAt(entry, 'number'),
    gateway: subnet === undefined ? '' : formatAddress(subnet.first + 1),
    cidrs: isRouted ? [primaryCidr, ...textsAt(entry, 'vpc', 'cidrs')] : [],
    lacks: Object.entries(gaps).find(([, isMissing]) => isMissing)?.[0],
    addresses: textsAt(entry, 'addresses'),
    prefixes: textsAt(entry, 'prefixes'),
    ipv6Prefixes: textsAt(entry, 'ipv6-prefixes'),
    tags: textMapAt(entry, 'tags'),
  };
}

/** Members that agents need of every interface, also of those that carry no pods, before they set up one more. */
const neededToSetUp: readonly (readonly string[])[] = [['ip'], ['subnet', 'cidr'], ['vpc', 'primary-cidr']];

function setUpObstacle(node: JsonObject): string | undefined {
  const interfaces = objectAt(node, 'status', 'eni', 'enis');
  for (const [id, entry] of Object.entries(interfaces)) {
    const missing = neededToSetUp.find((path) => textAt(entry, ...path) === '');
    if (missing !== undefined) return `interface ${id} has no ${missing.join('.')}`;
  }
  const shown = new Map(
    Object.entries(interfaces).map(([id, entry]) => [id, new Set(textsAt(entry, 'addresses'))]),
  );
  for (const [address, entry] of Object.entries(objectAt(node, 'spec', 'ipam', 'pool'))) {
    const id = textAt(entry, 'resource');
    if (shown.get(id)?.has(address) !== true)
      return `the pool names ${address} on ${id}, where the status lacks it`;
  }
  return undefined;
}
