// Where a value is inside another; put into words only where something is wrong with it.

export interface ValuePlace {
  readonly up: ValuePlace | undefined;
  /** The name of a field, the key of a map, or the index in a list; of the outermost value, what all paths begin with. */
  readonly step: string | number;
}

/** With indexes and the keys of maps. */
export function pathOf({ up, step }: ValuePlace): string {
  const outer = up === undefined ? '' : pathOf(up);
  if (typeof step === 'number') return `${outer}[${step}]`;
  return outer === '' ? step : `${outer}.${step}`;
}
