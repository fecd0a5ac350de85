// AWS put together from its parts, around whatever sends the requests: the real SDK, or a model in the same process.
import { callCapOf } from '../config/call-cap.ts';
import type { Options } from '../config/option-table.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import { awsAllocation } from '../providers/aws/aws-allocation.ts';
import type { Ec2Api } from '../providers/aws/ec2-api.ts';
import { Ec2Edge } from '../providers/aws/ec2-edge.ts';
import { ourQuotas, quotaActions } from '../providers/aws/quotas.ts';
import { type BucketLevel, CallBudget } from '../providers/call-budget.ts';
import { InFlight } from '../providers/in-flight.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import type { Tags } from '../providers/network-interface.ts';
import type { Clock } from '../scheduling/clock.ts';
import { ec2Instruments, showBuckets } from './cloud-instruments.ts';
import { type Denial, Denials } from './denials.ts';

export interface CloudDeps {
  readonly options: Options;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Whether this process leads at this very moment. */
  readonly leads: () => boolean;
  /** Whether a call that takes something away and may last `ms` can still end within our own lease. */
  readonly mayTakeAway: (ms: number) => boolean;
  readonly permission: MutationPermission;
}

/** A cloud as the controller takes it. */
export interface Cloud {
  readonly implementation: AllocationImplementation;
  /** Tags of the interfaces that are created. */
  readonly interfaceTags: Tags;
  /** Those of them by which interfaces that belong to this cluster are known. */
  readonly belongingTags: Tags;
  /** Sets the gauges about calls under way. */
  readonly showCalls: () => void;
  /** The rate limits as they are now. */
  readonly buckets: () => readonly BucketLevel[];
  /** What the cloud does not permit. */
  readonly denied: () => readonly Denial[];
}

export function composeAws(api: Ec2Api, deps: CloudDeps): Cloud {
  const { options, clock, log, metrics, leads, mayTakeAway, permission } = deps;
  const cap = callCapOf(options);
  const budget = new CallBudget({
    clock,
    sizes: ourQuotas(options.cloudQuotaShare, options.cloudQuotaOverrides),
    overall: cap && { capacity: cap.burst, refill: cap.perSecond },
  });
  const known: readonly string[] = quotaActions;
  const unknown = [...options.cloudQuotaOverrides.keys()].filter((action) => !known.includes(action));
  if (unknown.length > 0)
    log.warn('cloud-quota-overrides names calls that Headwater does not make', { unknown, known });
  const timeout = options.cloudCallTimeout;
  const denials = new Denials({ clock, log });
  const instruments = ec2Instruments(metrics, log, denials);
  const places = new InFlight(options.parallelAllocWorkers);
  const gate = { leads, mayTakeAway, permission };
  const edge = new Ec2Edge({ api, budget, places, clock, timeout, ...gate, ...instruments });
  const implementation = awsAllocation(edge, {
    pageSize: options.awsMaxResultsPerCall,
    instanceTags: options.instanceTagsFilter,
    subnetIds: options.subnetIdsFilter,
    subnetTags: options.subnetTagsFilter,
  });
  const showCalls = (): void => {
    metrics.headwater_cloud_calls_in_flight.set(edge.inFlight);
    showBuckets(metrics, budget.levels());
  };
  const belonging = belongingTags(options);
  const interfaceTags = { ...options.eniTags, ...belonging };
  const buckets = (): readonly BucketLevel[] => budget.levels();
  return {
    implementation,
    interfaceTags,
    belongingTags: belonging,
    showCalls,
    buckets,
    denied: () => denials.list,
  };
}

/** The tags by which interfaces that belong to this cluster are known. */
function belongingTags({ eniGcTags, clusterName }: Options): Tags {
  if (Object.keys(eniGcTags).length > 0) return eniGcTags;
  return { 'io.cilium/cilium-managed': 'true', 'io.cilium/cluster-name': clusterName };
}
