// How long pods waited for an address, in figures of constant size.

export interface WaitFigures {
  /** Pods that got an address. */
  readonly count: number;
  /** Sum of their waits, in ms. */
  readonly total: number;
  readonly max: number;
}

export const noWaits: WaitFigures = { count: 0, total: 0, max: 0 };

export function withWait(figures: WaitFigures, wait: number): WaitFigures {
  return {
    count: figures.count + 1,
    total: figures.total + wait,
    max: Math.max(figures.max, wait),
  };
}

/** The combined figures. */
export function sumOfWaits(a: WaitFigures, b: WaitFigures): WaitFigures {
  return {
    count: a.count + b.count,
    total: a.total + b.total,
    max: Math.max(a.max, b.max),
  };
}
