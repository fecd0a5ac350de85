// Implements the core's cloud contract for AWS.
import type { AllocationImplementation, CloudTraits } from '../contract/cloud.ts';
import type { Ec2Client } from './ec2-client.ts';
import { actionOf, perform } from './perform.ts';
import { readPublicAddresses } from './public-addresses.ts';
import { maxFilterValues, type ReadOptions } from './read-list.ts';
import { observe, reach, readDetached } from './read.ts';
import { readInfrastructure, readReservations, readSubnetCounts } from './read-infrastructure.ts';
import { readLimits } from './read-limits.ts';
import { readInstanceTag } from './read-instances.ts';
import { rehearse } from './rehearse.ts';
import type { SharedSubnetTags } from './shared-subnet-tags.ts';
import { awsSection } from './cilium-node-section.ts';

const awsTraits: CloudTraits = {
  interfaces: 'made',
  repeatedAssignment: 'adds',
  maxPerCall: Infinity,
  change: 'perInterface',
  limits: 'byType',
  prefixes: true,
  ipv6: true,
  poolRequests: true,
  newInstances: 'knownLate',
  publicAddresses: true,
};

/** `sharedTags`: reads the tags of subnets that another account shares; undefined without a role there. */
export function awsAllocation(
  client: Ec2Client,
  options: ReadOptions,
  sharedTags?: SharedSubnetTags,
): AllocationImplementation {
  return {
    traits: awsTraits,
    maxInstancesPerRefresh: maxFilterValues,
    maxTypesPerRead: maxFilterValues,
    reach: (context) => reach(client, context),
    observe: (scope, context) => observe({ client, options, context }, scope),
    readInfrastructure: (networkIds, context, zones) =>
      readInfrastructure({ client, options: { ...options, zones }, context, sharedTags }, networkIds),
    readSubnetCounts: (networkIds, context) => readSubnetCounts({ client, options, context }, networkIds),
    readLimits: (types, context) => readLimits(client, types, context),
    readPublicAddresses: (tags, context) => readPublicAddresses(client, tags, context),
    readTag: (instanceIds, key, context) =>
      readInstanceTag({ client, context }, instanceIds, { key, pageSize: options.pageSize }),
    readDetached: (scope, context) => readDetached(client, scope, options.pageSize, context),
    readReservations: (subnetId, context) => readReservations({ client, context }, subnetId),
    ...client.admission(actionOf),
    perform: (operation, context) =>
      perform(client, operation, { ...context, change: { operation, priority: context.caller.priority } }),
    rehearse: ([node], context) => rehearse(client, node, context, sharedTags),
    section: awsSection,
  };
}
