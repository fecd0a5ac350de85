// The rate quotas of Compute Engine per project, in requests a minute (https://cloud.google.com/compute/api-quota).
import type { LimitSize, LimitSizes } from '../rate-limit/limit-key.ts';
import type { ComputeAction } from './compute-api.ts';

const aMinute: LimitSize = { kind: 'window', max: 1500, ms: 60_000 };

const quotas: Readonly<Record<ComputeAction, LimitSize>> = {
  'instances.get': aMinute,
  'instances.updateNetworkInterface': aMinute,
  'zoneOperations.get': aMinute,
};

/** The documented limits: one of each action, under its name. */
export const computeLimits: LimitSizes = new Map(Object.entries(quotas));
