// What ARM's answers say of its limits.
import type { LimitKey } from '../rate-limit/limit-key.ts';
import type { ArmRequest } from './arm-api.ts';

type Limited = Pick<ArmRequest, 'method' | 'subscriptionId'>;

/** Codes of the throttle of Resource Manager, which stands before those of its providers. */
const ofResourceManager: ReadonlySet<string> = new Set([
  'SubscriptionRequestsThrottled',
  'ResourceManagerThrottled',
]);

/** The limit that a throttled answer names; undefined if it names none. */
export function throttledLimit(
  request: Limited,
  { code, remaining }: { readonly code: string; readonly remaining: ReadonlyMap<string, number> },
): LimitKey | undefined {
  const isSpent = remaining.get(headerOf(request)) === 0;
  return ofResourceManager.has(code) || isSpent ? resourceManagerLimit(request) : undefined;
}

/** How many calls the limit of Resource Manager would admit; undefined if the answer does not say. */
export function remainingCalls(
  request: Limited,
  remaining: ReadonlyMap<string, number>,
): { readonly limit: LimitKey; readonly count: number } | undefined {
  const count = remaining.get(headerOf(request));
  return count === undefined ? undefined : { limit: resourceManagerLimit(request), count };
}

/** Without the common beginning of these headers. */
function headerOf({ method }: Limited): string {
  return method === 'GET' ? 'subscription-reads' : 'subscription-writes';
}

function resourceManagerLimit({ method, subscriptionId }: Limited): LimitKey {
  return { name: method === 'GET' ? 'arm-reads' : 'arm-writes', resource: subscriptionId };
}
