// Implements the core's cloud contract for Azure.
import type {
  AllocationImplementation,
  CallContext,
  ObservedCounts,
  ObservedInfrastructure,
  CloudTraits,
} from '../contract/cloud.ts';
import type { Operation, OperationKind, Outcome } from '../contract/operations.ts';
import type { CloudFailure } from '../contract/cloud-failure.ts';
import { admission } from '../gate/action-client.ts';
import type { CallGate } from '../gate/call-gate.ts';
import type { CloudCall } from '../gate/cloud-call.ts';
import type { Clock } from '../../runtime/clock.ts';
import { VersionedApi } from './api-versions.ts';
import type { ArmApi } from './arm-api.ts';
import { associate } from './associate.ts';
import { ArmClient, callOf, failure } from './arm-client.ts';
import { Changes } from './changes.ts';
import { azureSection } from './cilium-node-section.ts';
import { FailedModels } from './failed-models.ts';
import { instanceKey, type InstanceRef, Spellings } from './ids.ts';
import { maxConfigurations } from './instance-model.ts';
import { PublicAddresses } from './public-addresses.ts';
import { PublicIpPrefixes } from './public-ip-prefixes.ts';
import { observe } from './read.ts';
import { rehearse } from './rehearse.ts';
import { interfacesInGroup, subscriptions } from './requests.ts';
import { Subnets } from './subnets.ts';
import { admittedFor, type UpdateParts } from './model-change.ts';
import { InstanceReleases } from './instance-releases.ts';
import { updateInstance } from './update-instance.ts';

export interface AzureAllocationOptions {
  readonly api: ArmApi;
  readonly gate: CallGate;
  readonly clock: Clock;
  /** In ms. */
  readonly consistencyWindow: number;
  /** Where this process runs, if that is known: what is read to see whether Azure answers. */
  readonly place: Pick<InstanceRef, 'subscriptionId' | 'resourceGroup'> | undefined;
  /** Whether the options let this instance be served. */
  readonly isInScope: (instance: InstanceRef) => boolean;
}

const azureTraits: CloudTraits = {
  interfaces: 'given',
  repeatedAssignment: 'isRecognized',
  maxPerCall: Infinity,
  change: 'perInstance',
  limits: {
    addressesPerInterface: maxConfigurations,
    addressesPerInstance: maxConfigurations,
    prefixes: false,
  },
  prefixes: false,
  ipv6: false,
  poolRequests: true,
  newInstances: 'knownAtOnce',
  publicAddresses: true,
};

/** The most instances that a scale set can have: a single list of the set answers for all of them. */
const maxInstancesPerRefresh = 1000;

export function azureAllocation(options: AzureAllocationOptions): AllocationImplementation {
  const { api, gate, clock, consistencyWindow, place, isInScope } = options;
  const client = new ArmClient({ api: new VersionedApi(api), gate });
  const spellings = new Spellings();
  const subnets = new Subnets(client, clock);
  const changes = new Changes({ client, spellings, clock });
  const failedModels = new FailedModels(clock, consistencyWindow);
  const publicAddresses = new PublicAddresses(client, clock);
  const prefixes = new PublicIpPrefixes(client, spellings, clock);
  const parts = { client, changes, spellings, failedModels };
  const releases = new InstanceReleases(parts, clock);
  return {
    traits: azureTraits,
    maxInstancesPerRefresh,
    maxTypesPerRead: 1,
    reach: async (context) => {
      await client.read(place === undefined ? subscriptions() : interfacesInGroup(place), context);
    },
    observe: (scope, context) => {
      // Only now every instance is named.
      if (scope.kind === 'all') {
        const instanceIds = new Set(scope.instanceIds.map(instanceKey));
        failedModels.keepOnly(instanceIds);
        publicAddresses.keepOnly(instanceIds);
      }
      return observe(
        { client, spellings, subnets, failedModels, publicAddresses, prefixes, clock, isInScope },
        scope,
        context,
      );
    },
    readInfrastructure: (networkIds, context) => readInfrastructure(subnets, networkIds, context),
    readSubnetCounts: (networkIds, context) => readSubnetCounts(subnets, networkIds, context),
    readLimits: () => Promise.resolve(new Map()),
    readPublicAddresses: (tags, context) => prefixes.read(tags, context),
    readDetached: () => Promise.resolve({ startedAt: clock.monotonic(), interfaces: [] }),
    ...admission(gate, callsFor),
    perform: (operation, context) =>
      perform({ parts, releases, publicAddresses }, operation, {
        ...context,
        change: { operation, priority: context.caller.priority },
      }),
    rehearse: (nodes, context) => rehearse({ client, prefixes }, nodes, context),
    section: azureSection(spellings),
  };
}

/** The change of each operation; its reads wait for their limits by themselves. */
function callsFor(kinds: readonly OperationKind[], instanceId: string | undefined): readonly CloudCall[] {
  return kinds.flatMap((kind) => {
    const effect = effects[kind];
    if (effect === undefined) return [];
    if (instanceId === undefined) throw new Error(`${kind} names no instance, whose limits it needs`);
    const request = admittedFor(instanceId, effect);
    return request === undefined ? [] : [callOf(request)];
  });
}

/** The effect of each operation that Azure supports. */
const effects: Partial<Record<OperationKind, 'adds' | 'takesAway'>> = {
  allocateIPs: 'adds',
  releaseIPs: 'takesAway',
  associateStaticIP: 'adds',
};

/** The changes that Azure knows, each with what carries it out. */
interface Performers {
  readonly parts: UpdateParts;
  readonly releases: InstanceReleases;
  readonly publicAddresses: PublicAddresses;
}

/** Interfaces of Azure come with their VM, so only addresses of them can change. */
async function perform(
  { parts, releases, publicAddresses }: Performers,
  operation: Operation,
  context: CallContext,
): Promise<Outcome> {
  if (operation.kind === 'releaseIPs') return releases.release(operation, context);
  if (operation.kind === 'associateStaticIP') return associate(parts, publicAddresses, operation, context);
  if (operation.kind !== 'allocateIPs' || operation.operationId === undefined)
    return { kind: 'failed', failure: unknownOperation(operation) };
  return updateInstance(parts, { ...operation, operationId: operation.operationId }, context);
}

function unknownOperation({ kind }: Operation): CloudFailure {
  const problem = `Azure does not know the operation ${kind}`;
  return failure({ operation: 'VirtualMachineScaleSetVMs.Update' }, 'InvalidOperation', problem);
}

async function readInfrastructure(
  subnets: Subnets,
  networkIds: readonly string[],
  context: CallContext,
): Promise<ObservedInfrastructure> {
  const read = await subnets.read(subnets.in(networkIds), context);
  return {
    startedAt: read.startedAt,
    infrastructure: {
      networkIds: new Set(networkIds),
      subnets: read.subnets,
      networks: read.networks,
      routeTables: [],
      securityGroups: [],
      unreadSubnets: read.unreadSubnets,
    },
    problems: [...read.unreadSubnets].flatMap(([id, { kind, message }]) =>
      kind === 'unreadable' ? [{ what: 'subnet', id, problem: message }] : [],
    ),
  };
}

async function readSubnetCounts(
  subnets: Subnets,
  networkIds: readonly string[],
  context: CallContext,
): Promise<ObservedCounts> {
  const read = await subnets.read(subnets.in(networkIds), context);
  return {
    startedAt: read.startedAt,
    counts: new Map([...read.subnets].map(([id, { freeAddresses }]) => [id, freeAddresses])),
    unread: new Set(read.unreadSubnets.keys()),
  };
}
