// EC2's throttling: one token bucket per action, and a separate one for listings of everything
// (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html).
import type { Clock } from '../../runtime/clock.ts';
import { type BucketSize, TokenBucket } from '../cloud/token-bucket.ts';

const bucket = (capacity: number, refillPerSecond: number): BucketSize => ({ capacity, refillPerSecond });

const read = bucket(100, 20);
const wholeListing = bucket(50, 10);
const write = bucket(50, 5);

/** Actions with another bucket size than their kind. */
const special: Readonly<Record<string, BucketSize>> = {
  AssignPrivateIpAddresses: bucket(100, 5),
  UnassignPrivateIpAddresses: bucket(100, 5),
  CreateNetworkInterface: bucket(100, 5),
  DeleteNetworkInterface: bucket(100, 5),
  ModifyNetworkInterfaceAttribute: bucket(100, 5),
  CreateTags: bucket(100, 10),
  DeleteTags: bucket(100, 10),
  RunInstances: bucket(5, 2),
  TerminateInstances: bucket(100, 5),
};

/** Actions that also take a token per created resource. */
const resources: Readonly<Record<string, BucketSize>> = { RunInstances: bucket(1000, 2) };

/** Listings with a separate bucket if they are neither filtered nor paginated. */
const listed = new Set([
  'DescribeInstances',
  'DescribeInstanceStatus',
  'DescribeNetworkInterfaces',
  'DescribeSecurityGroups',
]);

export interface LimitSettings {
  readonly throttle: boolean;
  /** Multiplies size and refill of every bucket. */
  readonly scale: number;
}

/** The bucket of a request. */
export interface BucketKey {
  readonly action: string;
  /** The request lists everything at once. */
  readonly whole: boolean;
  /** Number of resources that the request creates. */
  readonly made?: number;
}

export class RequestLimits {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, TokenBucket>();
  #settings: LimitSettings;

  constructor(clock: Clock, settings: LimitSettings) {
    this.#clock = clock;
    this.#settings = settings;
  }

  get settings(): LimitSettings {
    return this.#settings;
  }

  /** Changes the settings; every bucket is full again. */
  change(settings: LimitSettings): void {
    this.#settings = settings;
    this.#buckets.clear();
  }

  /** Takes the tokens of a request; returns false if it is throttled. */
  allow(key: BucketKey): boolean {
    if (!this.#settings.throttle) return true;
    if (!this.#requests(key).take(1)) return false;
    const size = resources[key.action];
    return size === undefined || this.#bucket(`${key.action} (made)`, size).take(key.made ?? 0);
  }

  /** Takes tokens as another client of the account would. */
  drain(key: BucketKey, tokens: number): void {
    this.#requests(key).drain(tokens);
  }

  /** Remaining tokens of every used bucket, by name. */
  levels(): Record<string, number> {
    return Object.fromEntries(
      [...this.#buckets].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, { level }]) => [name, level]),
    );
  }

  #requests({ action, whole }: BucketKey): TokenBucket {
    return whole && listed.has(action)
      ? this.#bucket(`${action} (whole)`, wholeListing)
      : this.#bucket(action, sizeFor(action));
  }

  #bucket(name: string, { capacity, refillPerSecond }: BucketSize): TokenBucket {
    const known = this.#buckets.get(name);
    if (known !== undefined) return known;
    const { scale } = this.#settings;
    const made = new TokenBucket(this.#clock, {
      capacity: capacity * scale,
      refillPerSecond: refillPerSecond * scale,
    });
    this.#buckets.set(name, made);
    return made;
  }
}

/** Whether an action only reads, by the prefix of its name. */
export function isRead(action: string): boolean {
  return /^(Describe|Get|List|Search)/.test(action);
}

function sizeFor(action: string): BucketSize {
  return special[action] ?? (isRead(action) ? read : write);
}
