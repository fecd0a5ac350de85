// Agents on Alibaba Cloud: `spec.alibaba-cloud` and `status.alibaba-cloud`, whose interfaces are a map by id. They speak the
// protocol of the CRD allocator in every release.
import type { InterfaceStatus } from '../interface-status.ts';
import { formatAddress, parseCidr, sizeOf } from '../ipv4.ts';
import { type Json, listAt, objectAt, textAt, textMapAt, withoutZeros } from '../json.ts';
import type { AgentCloud } from './agent-cloud.ts';

export const alibaba: AgentCloud = {
  providerIdOf: ({ zone, instanceId }) => `${zone.replace(/-?[a-z]$/, '')}.${instanceId}`,
  announced: (facts) => ({
    'alibaba-cloud': withoutZeros({
      'instance-type': facts.instanceType,
      'availability-zone': facts.zone,
      'vpc-id': facts.vpcId,
      'cidr-block': facts.networkCidr,
      vswitches: facts.alibaba?.vSwitches,
      'vswitch-tags': facts.alibaba?.vSwitchTags,
      'security-groups': facts.alibaba?.securityGroups,
      'security-group-tags': facts.alibaba?.securityGroupTags,
    }),
  }),
  isReadable: () => true,
  interfacesOf: (node) => Object.values(objectAt(node, 'status', 'alibaba-cloud', 'enis')).map(interfaceOf),
  exclusionOf: () => ({ firstInterfaceIndex: undefined, tags: new Map() }),
  // The primary interface carries no pods.
  firstInterfaceIndexOf: () => 1,
  usesPrimaryAddresses: true,
  writtenBack: (status) => status,
  setUpObstacle: () => undefined,
  awaitsCidr: true,
  networkOf: (node) => textAt(node, 'spec', 'alibaba-cloud', 'vpc-id'),
};

/** The gateway of a vSwitch is its third address from the end. */
const gatewayFromEnd = 3;

function interfaceOf(entry: Json | undefined): InterfaceStatus {
  const mac = textAt(entry, 'mac-address');
  const tags = textMapAt(entry, 'tags');
  const text = textAt(entry, 'vswitch', 'cidr');
  const cidr = parseCidr(text);
  const gaps = { 'MAC address': mac === '', 'vSwitch CIDR': cidr === undefined };
  return {
    id: textAt(entry, 'network-interface-id'),
    mac,
    number: Number(tags.get('cilium-eni-index') ?? '0') || 0,
    gateway: cidr === undefined ? '' : formatAddress(cidr.first + sizeOf(cidr) - gatewayFromEnd),
    cidrs: cidr === undefined ? [] : [text],
    lacks: Object.entries(gaps).find(([, isMissing]) => isMissing)?.[0],
    addresses: listAt(entry, 'private-ipsets').map((set) => textAt(set, 'private-ip-address')),
    prefixes: [],
    ipv6Prefixes: [],
    tags,
  };
}
