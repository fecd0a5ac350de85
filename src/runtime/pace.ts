// How long what is free lasts at the pace of the last day. Pure.

/** How much was held at a time: blocks, or addresses. */
export interface PaceSample {
  /** Monotonic ms. */
  readonly at: number;
  readonly held: number;
}

const hour = 3_600_000;
const day = 24 * hour;

/** The samples after one more: at most one an hour, of the last day. */
export function withSample(samples: readonly PaceSample[], next: PaceSample): readonly PaceSample[] {
  const last = samples.at(-1);
  if (last !== undefined && next.at < last.at + hour) return samples;
  return [...samples.filter(({ at }) => at >= next.at - day), next];
}

/** Days until `free` is used up; undefined while no more is held than before, or less than an hour is known. */
export function daysLeft(samples: readonly PaceSample[], now: PaceSample, free: number): number | undefined {
  const [first] = samples;
  if (first === undefined || now.at - first.at < hour || now.held <= first.held) return undefined;
  const perDay = ((now.held - first.held) / (now.at - first.at)) * day;
  return Math.round((free / perDay) * 10) / 10;
}
