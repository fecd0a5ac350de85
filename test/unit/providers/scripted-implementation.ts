// A cloud with only the methods that a test gives; a call of any other one fails the test.
import { awsSection } from '../../../src/providers/aws/cilium-node-section.ts';
import type { AllocationImplementation, CloudTraits } from '../../../src/providers/contract/cloud.ts';
import type { CiliumNodeSection, CloudWords } from '../../../src/providers/contract/cilium-node-section.ts';

/** Words of no real cloud. */
export const words: CloudWords = {
  publicAddress: 'floating address',
  fields: {
    instanceType: 'section.type',
    networkId: 'section.network',
    zone: 'section.zone',
    interfaceName: 'section.interface-name',
    securityGroupIds: 'section.groups',
    securityGroupTags: 'section.group-tags',
  },
  remedies: {
    fullSubnets: 'widen the subnet',
    fullInstance: 'use a larger machine',
    unseenInstance: 'check the access',
  },
  options: { networkId: '--network', exclusion: 'does not carry the tags of --instance-tags' },
};

/** AWS's section with these words, and with what else a test gives. */
export function scriptedSection(given: Partial<CiliumNodeSection> = {}): CiliumNodeSection {
  return { ...awsSection, words, ...given };
}
/** Traits of a cloud that makes interfaces. */
export const traits: CloudTraits = {
  interfaces: 'made',
  repeatedAssignment: 'adds',
  maxPerCall: Infinity,
  change: 'perInterface',
  limits: 'byType',
  prefixes: true,
  ipv6: true,
  poolRequests: true,
  newInstances: 'knownAtOnce',
  publicAddresses: true,
};

export function scriptedImplementation(given: Partial<AllocationImplementation>): AllocationImplementation {
  const missing = (name: string) => (): never => {
    throw new Error(`${name} is not expected`);
  };
  return {
    traits,
    maxInstancesPerRefresh: 200,
    maxTypesPerRead: 200,
    section: scriptedSection(),
    reach: missing('reach'),
    observe: missing('observe'),
    readInfrastructure: missing('readInfrastructure'),
    readSubnetCounts: missing('readSubnetCounts'),
    readLimits: missing('readLimits'),
    readPublicAddresses: missing('readPublicAddresses'),
    readDetached: missing('readDetached'),
    admit: missing('admit'),
    reconsider: () => undefined,
    expectedWait: () => 0,
    limitsOf: () => [],
    perform: missing('perform'),
    ...given,
  };
}
