// How often leaders are killed, and the timings of their election: `npm run test:e2e -- --kills 50 --lease 15s`.
import { formatDuration, parseGoDuration } from '../../../src/config/go-duration.ts';

export interface TakeoverPlan {
  readonly kills: number;
  /** Flags of every controller: the timings of the election, and a time-out of cloud calls that ends within the Lease. */
  readonly flags: readonly string[];
  /** In ms. */
  readonly lease: number;
  readonly nodes: number;
}

const usual = { kills: 10, lease: 3000, nodes: 20 };

/** Option names, and the variables that the tests read. */
export const planVariables = {
  kills: 'HEADWATER_E2E_KILLS',
  lease: 'HEADWATER_E2E_LEASE',
  nodes: 'HEADWATER_E2E_NODES',
} as const;

/** Throws an Error with the reason. */
export function takeoverPlan(environment: NodeJS.ProcessEnv): TakeoverPlan {
  const kills = countOf('kills', environment) ?? usual.kills;
  const nodes = countOf('nodes', environment) ?? usual.nodes;
  const text = environment[planVariables.lease];
  const lease = text === undefined ? usual.lease : parseGoDuration(text);
  if (lease === undefined || lease < 3000 || lease % 1000 !== 0)
    throw new Error(`--lease is ${text}; a duration of whole seconds is accepted, 3s at least`);
  // In the proportions of the defaults: 15 s, 10 s, 2 s.
  const renewDeadline = Math.floor((lease * 2) / 3);
  const retryPeriod = Math.max(1000, Math.floor((lease * 2) / 15));
  const flags = [
    `--leader-election-lease-duration=${formatDuration(lease)}`,
    `--leader-election-renew-deadline=${formatDuration(renewDeadline)}`,
    `--leader-election-retry-period=${formatDuration(retryPeriod)}`,
    // A call that takes something away is only sent if its answer can come before the lease ends.
    `--cloud-call-timeout=${formatDuration(Math.min(8000, lease / 2))}`,
  ];
  return { kills, nodes, lease, flags };
}

function countOf(name: 'kills' | 'nodes', environment: NodeJS.ProcessEnv): number | undefined {
  const text = environment[planVariables[name]];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${name} is ${text}; a whole number above 0 is accepted`);
}
