// The place of a value inside another; formatted only for an error.

export interface ValuePlace {
  readonly up: ValuePlace | undefined;
  /** The field name, map key or list index; for the root, the start of all paths. */
  readonly step: string | number;
}

/** With indexes and map keys. */
export function pathOf({ up, step }: ValuePlace): string {
  const outer = up === undefined ? '' : pathOf(up);
  if (typeof step === 'number') return `${outer}[${step}]`;
  return outer === '' ? step : `${outer}.${step}`;
}
