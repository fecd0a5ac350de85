// A node that asks for addresses, for tests of what the check finds.
import type { AskingNode } from '../../../../src/commands/check/cloud-facts.ts';

const none: ReadonlySet<string> = new Set();

export const unusedNode: AskingNode['object'] = {
  ipam: {
    preAllocate: 8,
    minAllocate: 0,
    maxAllocate: 0,
    maxAboveWatermark: 0,
    pool: new Map(),
    requested: [],
    allocated: [],
    staticIpTags: {},
  },
  status: {
    used: none,
    releaseIps: new Map(),
    interfaces: new Map(),
    assignedStaticIp: undefined,
    operatorError: undefined,
  },
};

export function askingNode(
  name: string,
  change: Partial<AskingNode['requirements']> = {},
  object = unusedNode,
): AskingNode {
  const requirements = {
    instanceType: 'm5.large',
    networkId: 'vpc-1',
    zone: 'a',
    nodeSubnetId: 'subnet-1',
    firstInterfaceIndex: 0,
    securityGroupIds: [],
    securityGroupTags: {},
    subnetIds: [],
    subnetTags: {},
    excludeInterfaceTags: {},
    deleteOnTermination: true,
    usePrimaryAddress: false,
    prefixDelegation: false,
    ...change,
  };
  return { name, instanceId: `i-${name}`, requirements, object };
}
