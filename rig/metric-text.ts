// One figure out of the text that Prometheus scrapes.

/** The value of the series of this name without labels; undefined where there is none. */
export function metricIn(text: string, name: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}
