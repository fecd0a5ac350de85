// Reads one figure from the text that Prometheus scrapes.

/** The value of a series, such as `headwater_leader` or `x{a="b"}`; undefined if there is none. */
export function metricIn(text: string, series: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
