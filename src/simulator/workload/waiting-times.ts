// How long pods waited for an address, in figures of constant size.

export interface WaitFigures {
  /** Pods that got an address. */
  readonly count: number;
  /** Sum of their waits, in ms. */
  readonly total: number;
  readonly longest: number;
}

export const noWaits: WaitFigures = { count: 0, total: 0, longest: 0 };

export function withWait(figures: WaitFigures, wait: number): WaitFigures {
  return {
    count: figures.count + 1,
    total: figures.total + wait,
    longest: Math.max(figures.longest, wait),
  };
}

/** The combined figures. */
export function sumOfWaits(a: WaitFigures, b: WaitFigures): WaitFigures {
  return {
    count: a.count + b.count,
    total: a.total + b.total,
    longest: Math.max(a.longest, b.longest),
  };
}
