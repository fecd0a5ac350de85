// The limits of requests per minute, for each action of an account in a region. Their numbers are only shown to users of
// an account; these are the ones that the vendor's own network plugin keeps to.
import type { Clock } from '../../runtime/clock.ts';
import { SlidingWindow } from '../cloud/sliding-window.ts';

export interface LimitSettings {
  /** Whether requests are throttled. */
  readonly throttle: boolean;
  /** Multiplies every limit. */
  readonly scale: number;
}

/** Requests of an action in any 60 s. */
const perMinute: Readonly<Partial<Record<string, number>>> = {
  DescribeNetworkInterfaces: 800,
  DetachNetworkInterface: 400,
  AssignPrivateIpAddresses: 400,
  UnassignPrivateIpAddresses: 400,
  DescribeInstanceTypes: 400,
  DescribeVSwitches: 300,
};

const otherwise = 500;
const minuteMs = 60_000;

export class RpcLimits {
  readonly #clock: Clock;
  readonly #windows = new Map<string, SlidingWindow>();
  #settings: LimitSettings;

  constructor(clock: Clock, settings: LimitSettings) {
    this.#clock = clock;
    this.#settings = settings;
  }

  get settings(): LimitSettings {
    return this.#settings;
  }

  /** Changes the limits; every window begins empty. */
  change(settings: LimitSettings): void {
    this.#settings = settings;
    this.#windows.clear();
  }

  /** Takes a request from its window; false if that is full. */
  take(action: string): boolean {
    return !this.#settings.throttle || this.#window(action).take(1);
  }

  /** Takes up to that many requests, as another caller would. */
  drain(action: string, count: number): void {
    this.#window(action).drain(count);
  }

  /** How many requests fit now, of each action called so far. */
  levels(): Record<string, number> {
    return Object.fromEntries([...this.#windows].map(([action, window]) => [action, window.level]));
  }

  #window(action: string): SlidingWindow {
    const known = this.#windows.get(action);
    if (known !== undefined) return known;
    const max = Math.max(1, Math.floor((perMinute[action] ?? otherwise) * this.#settings.scale));
    const window = new SlidingWindow(this.#clock, { max, ms: minuteMs });
    this.#windows.set(action, window);
    return window;
  }
}
