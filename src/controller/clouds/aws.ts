// Composes the AWS provider around an API implementation: the real SDK, or a model in the same process. A command hands
// this function to the controller as `composeCloud`.
import { callCapOf } from '../../config/call-cap.ts';
import { belongingTags, interfaceTags } from '../../config/interface-tags.ts';
import type { Options } from '../../config/option-table.ts';
import { awsAllocation } from '../../providers/aws/aws-allocation.ts';
import type { Ec2Api } from '../../providers/aws/ec2-api.ts';
import { Ec2Client } from '../../providers/aws/ec2-client.ts';
import { instanceIdOf } from '../../providers/aws/ids.ts';
import { ourQuotas, quotaActions } from '../../providers/aws/quotas.ts';
import { describeWhereabouts, type WhereaboutsSource } from '../../providers/aws/whereabouts.ts';
import { type BucketLevel, RateLimiter } from '../../providers/rate-limit/rate-limiter.ts';
import { ConcurrencyLimiter } from '../../providers/rate-limit/concurrency-limit.ts';
import type { Cloud, CloudDeps } from './cloud.ts';
import { ec2Instruments, showBuckets } from './aws-instruments.ts';
import { MissingPermissions } from '../reporting/missing-permissions.ts';

export function composeAws(api: Ec2Api & Partial<WhereaboutsSource>, deps: CloudDeps): Cloud {
  const { options, clock, log, metrics, leads, isInSafeLeaseWindow, permission } = deps;
  const cap = callCapOf(options);
  const rateLimiter = new RateLimiter({
    clock,
    sizes: ourQuotas(options.cloudQuotaShare, options.cloudQuotaOverrides),
    overall: cap && { capacity: cap.burst, refill: cap.perSecond },
  });
  const known: readonly string[] = quotaActions;
  const unknown = [...options.cloudQuotaOverrides.keys()].filter((action) => !known.includes(action));
  if (unknown.length > 0)
    log.warn('cloud-quota-overrides names calls that Headwater does not make', { unknown, known });
  const timeout = options.cloudCallTimeout;
  const missingPermissions = new MissingPermissions({ clock, log });
  const instruments = ec2Instruments(metrics, log, missingPermissions);
  const concurrency = new ConcurrencyLimiter(options.parallelAllocWorkers);
  const gate = { leads, isInSafeLeaseWindow, permission };
  const client = new Ec2Client({ api, rateLimiter, concurrency, clock, timeout, ...gate, ...instruments });
  const implementation = awsAllocation(client, {
    pageSize: options.awsMaxResultsPerCall,
    instanceTags: options.instanceTagsFilter,
    subnetIds: options.subnetIdsFilter,
    subnetTags: options.subnetTagsFilter,
  });
  const showCalls = (): void => {
    metrics.headwater_cloud_calls_in_flight.set(client.inFlight);
    showBuckets(metrics, rateLimiter.levels());
  };
  const buckets = (): readonly BucketLevel[] => rateLimiter.levels();
  return {
    instanceIdOf,
    implementation,
    interfaceTags: interfaceTags(options),
    belongingTags: belongingTags(options),
    showCalls,
    buckets,
    denied: () => missingPermissions.list,
    describe: async () => ({ scope: await describeWhereabouts(whereaboutsIn(api, options), clock) }),
  };
}

/** An in-process model reports neither region nor account. */
function whereaboutsIn(api: Partial<WhereaboutsSource>, { awsRegion }: Options): WhereaboutsSource {
  return {
    region: async () => awsRegion ?? (await api.region?.()),
    account: async (signal) => api.account?.(signal),
  };
}
