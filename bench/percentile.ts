// Order statistics.

/**
 * The smallest of `values` that at least `share` of them do not exceed (nearest rank). Throws a RangeError for no values
 * and for shares that are not above 0 and at most 1.
 */
export function percentile(values: readonly number[], share: number): number {
  if (!(share > 0 && share <= 1)) throw new RangeError(`no share: ${share}`);
  const ordered = values.toSorted((a, b) => a - b);
  const found = ordered[Math.ceil(ordered.length * share - 1e-9) - 1];
  if (found === undefined) throw new RangeError('there are no values');
  return found;
}
