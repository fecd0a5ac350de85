// Call latencies: each action has a mean, with realistic scatter.
import type { Random } from '../../runtime/random.ts';

export interface LatencySettings {
  /** Multiplies every delay; 0 disables delays. */
  readonly scale: number;
  /** Sigma of the log-normal distribution. */
  readonly spread: number;
}

/** A log-normal delay in ms with the mean `mean` times the scale. */
export function drawLatency(mean: number, { scale, spread }: LatencySettings, random: Random): number {
  if (scale === 0) return 0;
  return mean * scale * Math.exp(spread * normal(random) - spread ** 2 / 2);
}

/** A draw of the standard normal distribution (Box and Muller). */
function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}
