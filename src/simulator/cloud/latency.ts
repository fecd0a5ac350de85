// How long calls take: around a mean that each action has, scattered as real latencies are.
import type { Random } from '../../scheduling/random.ts';

export interface LatencySettings {
  /** Multiplies every delay; 0: none. */
  readonly scale: number;
  /** Sigma of the log-normal distribution. */
  readonly spread: number;
}

/** A delay in ms, drawn log-normally so that its mean is `mean` ms times the scale. */
export function drawLatency(mean: number, { scale, spread }: LatencySettings, random: Random): number {
  if (scale === 0) return 0;
  return mean * scale * Math.exp(spread * normal(random) - spread ** 2 / 2);
}

/** A draw of the standard normal distribution (Box and Muller). */
function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}
