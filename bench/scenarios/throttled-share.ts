// How many of all answers said "too many".
import { callFigures } from '../call-figures.ts';
import type { Reading } from '../figure.ts';
import type { CallCounts } from '../rig/cloud-process.ts';

export function throttledShare(counts: CallCounts): Reading {
  const { calls, throttled } = callFigures(counts);
  return { measured: (100 * throttled) / calls, details: `${throttled} of ${calls} answers` };
}
