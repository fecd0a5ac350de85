// A cloud with only the methods that a test gives; a call of any other one fails the test.
import type {
  AllocationImplementation,
  CloudWords,
} from '../../../src/providers/contract/allocation-implementation.ts';
import type { CloudTraits } from '../../../src/providers/contract/cloud-traits.ts';

/** Words of no real cloud. */
export const words: CloudWords = {
  publicAddress: 'floating address',
  fields: {
    section: 'section',
    instanceType: 'section.type',
    networkId: 'section.network',
    zone: 'section.zone',
    interfaceName: 'section.interface-name',
    securityGroupIds: 'section.groups',
    securityGroupTags: 'section.group-tags',
  },
  options: { networkId: '--network', instanceTags: '--instance-tags' },
};

/** Traits of a cloud that makes interfaces. */
export const traits: CloudTraits = {
  interfaces: 'made',
  repeatedAssignment: 'adds',
  change: 'perInterface',
  limits: 'byType',
  publicAddresses: true,
};

export function scriptedImplementation(given: Partial<AllocationImplementation>): AllocationImplementation {
  const missing = (name: string) => (): never => {
    throw new Error(`${name} is not expected`);
  };
  return {
    traits,
    mostInstancesPerRefresh: 200,
    mostTypesPerRead: 200,
    statusKey: 'eni',
    words,
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
    perform: missing('perform'),
    statusOf: missing('statusOf'),
    statusWithout: missing('statusWithout'),
    restore: missing('restore'),
    ...given,
  };
}
