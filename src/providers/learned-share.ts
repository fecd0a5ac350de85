// What part of a rate limit turns out to be ours to use, learnt from the cloud's own answers: throttled calls say that
// others use the rest. Up by a little with each answer, down by a quarter once throttles are more than a coincidence, as
// plain data and pure functions.

export interface LearnedShare {
  /** Of what we may use by configuration; between `leastShare` and 1. */
  readonly value: number;
  /** When `value` was true, in monotonic ms. */
  readonly at: number;
  /** When it was last cut, in monotonic ms. */
  readonly cutAt: number;
  /** Throttled calls of late, each forgotten over the next answers: one alone may come of how long calls travel. */
  readonly suspicion: number;
  /** When the first throttled call of the latest coincidence was answered, in monotonic ms. */
  readonly suspectedAt: number;
}

/** Enough to go on asking, so that the end of a shortage is noticed. */
const leastShare = 0.05;
const cut = 0.75;
const callsPerCut = 4;
/** Of throttled calls: so many are no coincidence. */
const certainty = 1.5;
/** What one counts that was under way when another was found to be one too many: mostly the same coincidence. */
const sameCoincidence = 0.1;
/** What each answer takes off: a throttle is forgotten over the next fifty. */
const trust = 0.02;
/** One throttle in 150 calls or so is what finding the limit again costs. */
const gainOfAnswer = 0.001;
/** Whoever took the rest is gone, it seems, once nothing was throttled for so long, in ms: then it goes faster. */
const quietAfter = 60_000;
const quietGain = 5;
/** From nothing to the whole in ten minutes without calls. */
const gainOfTime = 1 / (10 * 60_000);

export function wholeShare(now: number): LearnedShare {
  return { value: 1, at: now, cutAt: -Infinity, suspicion: 0, suspectedAt: -Infinity };
}

export function shareAt({ value, at }: LearnedShare, now: number): number {
  return Math.min(1, value + Math.max(0, now - at) * gainOfTime);
}

/** The cloud answered a call, whatever it said: it was not one too many. */
export function afterAnswer(learned: LearnedShare, now: number): LearnedShare {
  const gain = now - learned.cutAt < quietAfter ? gainOfAnswer : gainOfAnswer * quietGain;
  const value = Math.min(1, shareAt(learned, now) + gain);
  return { ...learned, value, at: now, suspicion: Math.max(0, learned.suspicion - trust) };
}

/**
 * A call sent at `sentAt` was one too many. Calls that were under way at a cut say nothing about the rate after it, and
 * neither do the first few at that rate, of which one takes `perCall` ms: the cloud's bucket is still empty. Those that
 * were under way when one was found to be too many say little more than that one.
 */
export function afterThrottle(
  learned: LearnedShare,
  { sentAt, now, perCall }: { readonly sentAt: number; readonly now: number; readonly perCall: number },
): LearnedShare {
  if (sentAt <= learned.cutAt + perCall * callsPerCut) return learned;
  const isSame = sentAt < learned.suspectedAt;
  const suspicion = learned.suspicion + (isSame ? sameCoincidence : 1);
  const suspectedAt = isSame ? learned.suspectedAt : now;
  if (suspicion < certainty) return { ...learned, suspicion, suspectedAt };
  // Until answers say otherwise, the next one is no coincidence either.
  return {
    suspicion: 1,
    suspectedAt,
    value: Math.max(leastShare, shareAt(learned, now) * cut),
    at: now,
    cutAt: now,
  };
}
