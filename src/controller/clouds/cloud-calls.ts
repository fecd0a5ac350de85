// Composes what the calls of a cloud pass: rate limits, slots, the gate, and what is reported about them.
import { callCapOf } from '../../config/option-warnings.ts';
import { CallGate, type CallGateOptions } from '../../providers/gate/call-gate.ts';
import { ConcurrencyLimiter } from '../../providers/rate-limit/concurrency-limiter.ts';
import { type LimitSizes, ourLimits } from '../../providers/rate-limit/limit-key.ts';
import { RateLimiter } from '../../providers/rate-limit/rate-limiter.ts';
import { MissingPermissions } from '../reporting/missing-permissions.ts';
import { callInstruments, type OperatorInstruments, showBuckets } from './call-instruments.ts';
import type { Cloud, CloudDeps } from './cloud.ts';

export interface CallRules extends Pick<CallGateOptions, 'failureOf'> {
  /** Undefined for a cloud that cilium-operator does not serve. */
  readonly operatorInstruments?: OperatorInstruments;
  /** The cloud's documented limits. */
  readonly limits: LimitSizes;
}

export interface CloudCalls extends Pick<Cloud, 'showCalls' | 'buckets' | 'denied'> {
  readonly gate: CallGate;
  /** Our part of the limits. */
  readonly limits: LimitSizes;
}

export function composeCalls(
  { operatorInstruments, limits, failureOf }: CallRules,
  deps: CloudDeps,
): CloudCalls {
  const { options, clock, log, metrics, leads, isInSafeLeaseWindow, permission, audit } = deps;
  const cap = callCapOf(options);
  const ours = ourLimits(limits, { share: options.cloudQuotaShare, raised: options.cloudQuotaOverrides });
  const rateLimiter = new RateLimiter({
    clock,
    sizes: ours,
    overall: cap && { capacity: cap.burst, refill: cap.perSecond },
  });
  const known = [...limits.keys()];
  const unknown = [...options.cloudQuotaOverrides.keys()].filter((name) => !limits.has(name));
  if (unknown.length > 0)
    log.warn('cloud-quota-overrides names calls that Headwater does not make', { unknown, known });
  const missingPermissions = new MissingPermissions({ clock, log });
  const gate = new CallGate({
    rateLimiter,
    concurrency: new ConcurrencyLimiter(options.parallelAllocWorkers),
    clock,
    timeout: options.cloudCallTimeout,
    fence: { leads, isInSafeLeaseWindow },
    permission,
    failureOf,
    listener: { ...callInstruments(operatorInstruments, metrics, log, missingPermissions), audit },
  });
  return {
    gate,
    limits: ours,
    showCalls: () => {
      metrics.headwater_cloud_calls_in_flight.set(gate.inFlight);
      showBuckets(metrics, rateLimiter.levels());
    },
    buckets: () => rateLimiter.levels(),
    denied: () => missingPermissions.list,
  };
}
