// Implements the core's cloud contract for Alibaba Cloud.
import type { AllocationImplementation, CloudTraits } from '../contract/cloud.ts';
import type { Tags } from '../contract/network-interface.ts';
import type { Tolerance } from '../reading/plausible.ts';
import type { CallGate } from '../gate/call-gate.ts';
import type { LimitSizes } from '../rate-limit/limit-key.ts';
import type { Clock } from '../../runtime/clock.ts';
import { alibabaSection } from './cilium-node-section.ts';
import { InterfaceWaits } from './interface-waits.ts';
import { actionOf, perform } from './perform.ts';
import { maxIds, observe, readDetached } from './read.ts';
import { readInfrastructure, readSubnetCounts, type SubnetFilters } from './read-infrastructure.ts';
import { maxInstanceTypes, readLimits } from './read-limits.ts';
import type { RpcApi } from './rpc-api.ts';
import { RpcClient } from './rpc-client.ts';

const alibabaTraits: CloudTraits = {
  interfaces: 'made',
  repeatedAssignment: 'isRecognized',
  maxPerCall: 10,
  change: 'perInterface',
  limits: 'byType',
  prefixes: false,
  ipv6: false,
  poolRequests: false,
  newInstances: 'knownLate',
  publicAddresses: false,
};

export interface AlibabaAllocationOptions {
  readonly api: RpcApi;
  readonly gate: CallGate;
  /** Our part of the limits that the gate keeps. */
  readonly limits: LimitSizes;
  readonly clock: Clock;
  /** In ms. */
  readonly consistencyWindow: number;
  readonly filters: ServedFilters;
  readonly tolerance: Tolerance;
}

/** The instances and subnets that options name. */
interface ServedFilters extends SubnetFilters {
  /** Tags that an instance must carry to be served. */
  readonly instanceTags: Tags;
}

export function alibabaAllocation(options: AlibabaAllocationOptions): AllocationImplementation {
  const { api, gate, limits, clock, consistencyWindow, tolerance } = options;
  const { instanceTags, ...subnets } = options.filters;
  const client = new RpcClient(api, gate);
  const waits = new InterfaceWaits({ client, clock, limits, consistencyWindow });
  return {
    traits: alibabaTraits,
    maxInstancesPerRefresh: maxIds,
    maxTypesPerRead: maxInstanceTypes,
    reach: async (context) => {
      await client.page('DescribeVpcs', { pageNumber: 1, pageSize: 1 }, context);
    },
    observe: (scope, context) => observe({ client, instanceTags, tolerance, context }, scope),
    readInfrastructure: (networkIds, context) =>
      readInfrastructure({ client, ...subnets, tolerance, context }, networkIds),
    readSubnetCounts: (networkIds, context) =>
      readSubnetCounts({ client, ...subnets, tolerance, context }, networkIds),
    readLimits: (types, context) => readLimits(client, types, context),
    readPublicAddresses: () => Promise.reject(new Error('public addresses are not associated')),
    readDetached: (scope, context) => readDetached(client, scope, context),
    ...client.admission(actionOf),
    perform: (operation, given) => {
      const context = { ...given, change: { operation, priority: given.caller.priority } };
      return perform({ client, waits, clock, context, consistencyWindow }, operation);
    },
    section: alibabaSection,
  };
}
