// Limits in the answers of ARM: `x-ms-ratelimit-remaining-subscription-reads: 41` of Resource Manager, and
// `x-ms-ratelimit-remaining-resource: Microsoft.Compute/GetVmSubscription;3999,Microsoft.Compute/GetVmResource;11` of a
// provider (https://learn.microsoft.com/azure/virtual-machines/compute-throttling-limits).
import type { LimitKey } from '../rate-limit/limit-key.ts';
import type { ArmRequest } from './arm-api.ts';
import { azureLimits, limitsOf } from './limits.ts';

type Limited = Pick<ArmRequest, 'operation' | 'method' | 'subscriptionId' | 'resource'>;

const prefix = 'x-ms-ratelimit-remaining-';

/** Calls that limits would admit, by the names that ARM gives them; those of providers have a slash. */
export function remainingIn(
  headers: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(headers).flatMap(([header, value = '']) => {
      if (!header.startsWith(prefix)) return [];
      const name = header.slice(prefix.length);
      return name === 'resource' ? value.split(',').flatMap(ofProvider) : counted(name, value);
    }),
  );
}

function ofProvider(entry: string): readonly (readonly [string, number])[] {
  const [name = '', count = ''] = entry.trim().split(';');
  return name.includes('/') ? counted(name, count) : [];
}

function counted(name: string, count: string): readonly (readonly [string, number])[] {
  return /^\d{1,9}$/.test(count) ? [[name, Number(count)]] : [];
}

/** Codes of the throttle of Resource Manager, which stands before those of its providers. */
const ofResourceManager: ReadonlySet<string> = new Set([
  'SubscriptionRequestsThrottled',
  'ResourceManagerThrottled',
]);

export interface ThrottledAnswer {
  readonly code: string;
  /** The group of operations that was used up, as the provider names it; undefined if the answer names none. */
  readonly target?: string | undefined;
  readonly remaining: ReadonlyMap<string, number>;
}

/** The limit that a throttled answer names; undefined if it names none. */
export function throttledLimit(
  request: Limited,
  { code, target, remaining }: ThrottledAnswer,
): LimitKey | undefined {
  if (ofResourceManager.has(code)) return resourceManagerLimit(request);
  if (target !== undefined) return providerLimit(request, target);
  return remainingCalls(request, remaining).find(({ count }) => count === 0)?.limit;
}

/** How many calls the limits of a request would admit, as far as the answer says it. */
export function remainingCalls(
  request: Limited,
  remaining: ReadonlyMap<string, number>,
): readonly { readonly limit: LimitKey; readonly count: number }[] {
  const own = request.method === 'GET' ? 'subscription-reads' : 'subscription-writes';
  return [...remaining].flatMap(([name, count]) => {
    const limit = name.includes('/')
      ? providerLimit(request, name)
      : name === own
        ? resourceManagerLimit(request)
        : undefined;
    return limit === undefined ? [] : [{ limit, count }];
  });
}

function resourceManagerLimit({ method, subscriptionId }: Limited): LimitKey {
  return { name: method === 'GET' ? 'arm-reads' : 'arm-writes', resource: subscriptionId };
}

/** Providers change the names of their groups. Those of a single VM or set end in `Resource`, all others are of the subscription. */
function providerLimit(request: Limited, name: string): LimitKey | undefined {
  const isOfThing = name.endsWith('Resource');
  return limitsOf(request.operation, request).find(
    (limit) =>
      !limit.name.startsWith('arm-') && (azureLimits.get(limit.name)?.isPerThing === true) === isOfThing,
  );
}
