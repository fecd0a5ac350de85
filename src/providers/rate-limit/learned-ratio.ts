// The learned ratio of a rate limit: how much of our quota is really there. Throttled calls show that other clients use
// the rest. Each answer raises the ratio slightly; repeated throttles cut it by a quarter, for all nodes. Plain data and
// pure functions.

export interface LearnedRatio {
  /** The ratio at the time `at`, between `minRatio` and 1. */
  readonly value: number;
  /** In monotonic ms. */
  readonly at: number;
  /** When it was last cut, in monotonic ms. */
  readonly cutAt: number;
  /** Weight of recent throttles; each later answer reduces it. A single throttle may only result from call latency. */
  readonly throttleWeight: number;
  /** When the first throttle of the latest burst was answered, in monotonic ms. */
  readonly burstAt: number;
}

/** Keeps enough calls going to notice when the limit recovers. */
const minRatio = 0.05;
const cut = 0.75;
/** The first calls after a cut, at the new rate, say nothing about it: the cloud's bucket is still empty. */
const callsPerCut = 4;
/** Weight of throttles that triggers a cut. */
const weightThatCuts = 1.5;
/** Weight of a throttled call that was in flight when another one was throttled: both usually have one cause. */
const weightInSameBurst = 0.1;
/** Weight that each answer removes: the next fifty answers forget one throttle. */
const weightLossPerAnswer = 0.02;
/** Probing for the limit costs about one throttle in 150 calls. */
const gainOfAnswer = 0.001;
/** After this long without a throttle, in ms, the other caller has probably gone and recovery speeds up. */
const quietAfter = 60_000;
const quietGain = 5;
/** Without calls, the ratio recovers from 0 to 1 in ten minutes. */
const gainOfTime = 1 / (10 * 60_000);

export function fullRatio(now: number): LearnedRatio {
  return { value: 1, at: now, cutAt: -Infinity, throttleWeight: 0, burstAt: -Infinity };
}

export function ratioAt({ value, at }: LearnedRatio, now: number): number {
  return Math.min(1, value + Math.max(0, now - at) * gainOfTime);
}

/** The cloud answered a call without throttling it, with success or failure. */
export function afterAnswer(ratio: LearnedRatio, now: number): LearnedRatio {
  const gain = now - ratio.cutAt < quietAfter ? gainOfAnswer : gainOfAnswer * quietGain;
  const value = Math.min(1, ratioAt(ratio, now) + gain);
  return {
    ...ratio,
    value,
    at: now,
    throttleWeight: Math.max(0, ratio.throttleWeight - weightLossPerAnswer),
  };
}

/**
 * A call sent at `sentAt` was throttled. Calls in flight at a cut say nothing about the new rate. Neither do the first
 * few calls at it, one per `perCall` ms: the cloud's bucket is still empty. Calls in flight when another was throttled
 * add little evidence.
 */
export function afterThrottle(
  ratio: LearnedRatio,
  { sentAt, now, perCall }: { readonly sentAt: number; readonly now: number; readonly perCall: number },
): LearnedRatio {
  if (sentAt <= ratio.cutAt + perCall * callsPerCut) return ratio;
  const isSame = sentAt < ratio.burstAt;
  const throttleWeight = ratio.throttleWeight + (isSame ? weightInSameBurst : 1);
  const burstAt = isSame ? ratio.burstAt : now;
  if (throttleWeight < weightThatCuts) return { ...ratio, throttleWeight, burstAt };
  // Until answers say otherwise, the next throttle counts as evidence at once.
  return {
    throttleWeight: 1,
    burstAt,
    value: Math.max(minRatio, ratioAt(ratio, now) * cut),
    at: now,
    cutAt: now,
  };
}
