// How much Azure serves: Resource Manager by subscription and principal
// (https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling), Compute by
// operation, resource and subscription (https://learn.microsoft.com/azure/virtual-machines/compute-throttling-limits),
// Network by subscription in windows of five minutes.
import type { Clock } from '../../runtime/clock.ts';
import { RequestWindow, type WindowSize } from '../cloud/request-window.ts';
import { type BucketSize, TokenBucket } from '../cloud/token-bucket.ts';
import type { ArmCall } from './arm-call.ts';
import { ArmRefusal } from './arm-refusal.ts';

export interface LimitSettings {
  readonly throttle: boolean;
  /** Multiplies size and refill of every limit. */
  readonly scale: number;
}

type Limit = TokenBucket | RequestWindow;
type Kind = 'reads' | 'writes' | 'deletes';

interface Spend {
  /** As refusals and headers name it. */
  readonly name: string;
  /** The thing that a call is counted for. */
  readonly key: string;
  readonly size: BucketSize | WindowSize;
  readonly source: 'arm' | 'compute' | 'network';
}

const perSecond = (capacity: number, refillPerSecond: number): BucketSize => ({ capacity, refillPerSecond });
const perMinute = (refill: number, capacity: number): BucketSize => perSecond(capacity, refill / 60);

const arm: Readonly<Record<Kind, BucketSize>> = {
  reads: perSecond(250, 25),
  writes: perSecond(200, 10),
  deletes: perSecond(200, 10),
};

const fiveMinutes = 300_000;
const network: Readonly<Record<'reads' | 'writes', WindowSize>> = {
  reads: { max: 10_000, ms: fiveMinutes },
  writes: { max: 1000, ms: fiveMinutes },
};

/** By group of operations: of one resource, and of the whole subscription. */
const compute: Readonly<
  Partial<Record<string, { readonly resource?: BucketSize; readonly subscription: BucketSize }>>
> = {
  ScaleSetVmUpdate: { resource: perMinute(4, 12), subscription: perMinute(500, 1500) },
  ScaleSetVmGet: { resource: perMinute(12, 36), subscription: perMinute(2000, 6000) },
  ScaleSetVmList: { resource: perMinute(12, 36), subscription: perMinute(360, 1080) },
  ScaleSetGet: { resource: perMinute(12, 36), subscription: perMinute(800, 2400) },
  ScaleSetUpdate: { resource: perMinute(4, 12), subscription: perMinute(500, 1500) },
  ScaleSetList: { subscription: perMinute(360, 1080) },
  VmPut: { resource: perMinute(4, 12), subscription: perMinute(500, 1500) },
  VmGet: { resource: perMinute(12, 36), subscription: perMinute(8000, 24_000) },
  VmList: { subscription: perMinute(300, 900) },
  OperationGet: { resource: perMinute(15, 45), subscription: perMinute(5000, 15_000) },
};

export class ArmLimits {
  readonly #clock: Clock;
  readonly #limits = new Map<string, Limit>();
  #settings: LimitSettings;

  constructor(clock: Clock, settings: LimitSettings) {
    this.#clock = clock;
    this.#settings = settings;
  }

  get settings(): LimitSettings {
    return this.#settings;
  }

  /** Changes the settings; every limit is full again. */
  change(settings: LimitSettings): void {
    this.#settings = settings;
    this.#limits.clear();
  }

  /** Takes what a call costs from all of its limits, or refuses and takes nothing. */
  take(call: ArmCall): void {
    if (!this.#settings.throttle) return;
    const spends = spendsOf(call);
    for (const spend of spends) {
      const limit = this.#limit(spend);
      if (limit.level < 1) throw throttled(spend, call, limit.wait(1));
    }
    for (const spend of spends) this.#limit(spend).take(1);
  }

  /** Takes from the limit of that key, if it was used, as another client would. */
  drain(key: string, count: number): void {
    this.#limits.get(key)?.drain(count);
  }

  /** Headers that tell how much is left of what a call is counted for. */
  remaining(call: ArmCall): Record<string, string> {
    if (!this.#settings.throttle) return {};
    const spends = spendsOf(call);
    const left = (spend: Spend): number => Math.floor(this.#limit(spend).level);
    const resources = spends
      .filter(({ source }) => source === 'compute')
      .map((spend) => `Microsoft.Compute/${spend.name};${left(spend)}`);
    return {
      ...Object.fromEntries(
        spends
          .filter(({ source }) => source === 'arm')
          .map((spend) => [`x-ms-ratelimit-remaining-subscription-${spend.name}`, String(left(spend))]),
      ),
      ...(resources.length > 0 && { 'x-ms-ratelimit-remaining-resource': resources.join(',') }),
    };
  }

  /** The rest of every used limit, by name. */
  levels(): Record<string, number> {
    return Object.fromEntries(
      [...this.#limits].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, { level }]) => [name, level]),
    );
  }

  #limit({ key, size }: Spend): Limit {
    const known = this.#limits.get(key);
    if (known !== undefined) return known;
    const { scale } = this.#settings;
    const made =
      'max' in size
        ? new RequestWindow(this.#clock, { ...size, max: size.max * scale })
        : new TokenBucket(this.#clock, {
            capacity: size.capacity * scale,
            refillPerSecond: size.refillPerSecond * scale,
          });
    this.#limits.set(key, made);
    return made;
  }
}

function spendsOf(call: ArmCall): readonly Spend[] {
  const { operation, caller, path, parameters } = call;
  const subscription = (parameters['subscription'] ?? '').toLowerCase();
  const kind = kindOf(operation.method);
  const spends: Spend[] = [
    { name: kind, key: `${kind} ${subscription} ${caller.clientId}`, size: arm[kind], source: 'arm' },
  ];
  if (operation.provider === 'Microsoft.Network') {
    const part = kind === 'reads' ? 'reads' : 'writes';
    spends.push({
      name: part,
      key: `network ${part} ${subscription}`,
      size: network[part],
      source: 'network',
    });
    return spends;
  }
  const { limits: group = '' } = operation;
  const sizes = compute[group];
  if (sizes === undefined) return spends;
  const { resource, subscription: whole } = sizes;
  if (resource !== undefined) {
    const of = path.toLowerCase();
    spends.push({ name: `${group}Resource`, key: `${group} ${of}`, size: resource, source: 'compute' });
  }
  const key = `${group} ${subscription}`;
  spends.push({ name: `${group}Subscription`, key, size: whole, source: 'compute' });
  return spends;
}

function kindOf(method: string): Kind {
  if (method === 'GET') return 'reads';
  return method === 'DELETE' ? 'deletes' : 'writes';
}

function throttled({ name, source }: Spend, call: ArmCall, waitMs: number): ArmRefusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const headers = { 'retry-after': String(seconds) };
  const { subscription = '' } = call.parameters;
  if (source === 'arm') {
    const message = `Number of ${name} for subscription '${subscription}' exceeded the limit. Please try again after '${seconds}' seconds.`;
    return new ArmRefusal('SubscriptionRequestsThrottled', message, 429, { headers });
  }
  return tooManyRequests(name, seconds);
}

/** A provider's refusal of too many requests. */
export function tooManyRequests(target: string, seconds: number): ArmRefusal {
  return new ArmRefusal(
    'TooManyRequests',
    'The server rejected the request because too many requests have been received for this subscription.',
    429,
    {
      headers: { 'retry-after': String(seconds) },
      details: [{ code: 'TooManyRequests', target, message: JSON.stringify({ operationGroup: target }) }],
    },
  );
}
