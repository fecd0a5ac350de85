// AWS as Headwater's core sees it.
import type { AllocationImplementation } from '../allocation-implementation.ts';
import type { Ec2Edge } from './ec2-edge.ts';
import { actionOf, perform } from './perform.ts';
import { readPublicAddresses } from './public-addresses.ts';
import { mostFilterValues, observe, readInfrastructure, readLimits, readSubnetCounts } from './read.ts';
import { readDetached } from './read-detached.ts';
import type { ReadOptions } from './read-options.ts';
import { eniStatus, recallStatus } from './status.ts';

export function awsAllocation(edge: Ec2Edge, options: ReadOptions): AllocationImplementation {
  return {
    mostInstancesPerLook: mostFilterValues,
    mostTypesPerRead: mostFilterValues,
    observe: (scope, context) => observe(edge, scope, options, context),
    readInfrastructure: (networkIds, context) => readInfrastructure(edge, networkIds, options, context),
    readSubnetCounts: (networkIds, context) => readSubnetCounts(edge, networkIds, options, context),
    readLimits: (types, context) => readLimits(edge, types, context),
    readPublicAddresses: (tags, context) => readPublicAddresses(edge, tags, context),
    readDetached: (scope, context) => readDetached(edge, scope, options.pageSize, context),
    admit: async (kinds, context) => {
      const giveBack = await edge.admit(
        kinds.map((kind) => actionOf[kind]),
        context,
      );
      return (unsent = kinds) => giveBack(unsent.map((kind) => actionOf[kind]));
    },
    reconsider: () => edge.reconsider(),
    expectedWait: (kinds, urgency) =>
      edge.expectedWait(
        kinds.map((kind) => actionOf[kind]),
        urgency,
      ),
    perform: (operation, context) => perform(edge, operation, context),
    statusKey: 'eni',
    statusOf: eniStatus,
    recall: recallStatus,
  };
}
