// A cloud of which only what the test gives exists; whatever else is asked of it is a failure of the test.
import type { AllocationImplementation } from '../../../src/providers/allocation-implementation.ts';

export function scriptedImplementation(given: Partial<AllocationImplementation>): AllocationImplementation {
  const missing = (name: string) => (): never => {
    throw new Error(`${name} is not expected`);
  };
  return {
    mostInstancesPerLook: 200,
    mostTypesPerRead: 200,
    statusKey: 'eni',
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
    recall: missing('recall'),
    ...given,
  };
}
