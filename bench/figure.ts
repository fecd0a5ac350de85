// One line of the table: what is measured, in which scenario, and what it may be at most.
import type { Clock } from '../src/runtime/clock.ts';
import type { CloudName } from './clouds/bench-cloud.ts';
import type { Scenarios } from './scenarios/scenarios.ts';

export interface Figure {
  /** As `--only` takes it: the name of its file. */
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly limit: number;
  /** The measured value may be anything up to the limit, or must be the limit itself. */
  readonly bound: 'atMost' | 'exactly';
  /** Whether the small form, which measures no times, has it. */
  readonly inSmallForm: boolean;
  /** What is done and counted, in one or two sentences. */
  readonly scenario: (settings: Settings) => string;
  readonly measure: (context: FigureContext) => Promise<Reading>;
}

/** A figure with what it may be on each cloud; it is measured on those that are named. */
export interface CloudFigure extends Omit<Figure, 'limit'> {
  readonly limits: Readonly<Partial<Record<CloudName, number>>>;
}

/** The figures of one cloud, in the same order. */
export function figuresOn(cloud: CloudName, figures: readonly CloudFigure[]): readonly Figure[] {
  return figures.flatMap(({ limits, ...figure }) => {
    const limit = limits[cloud];
    return limit === undefined ? [] : [{ ...figure, limit }];
  });
}

export interface Reading {
  readonly measured: number;
  /** What stands behind the number. */
  readonly details: string;
}

export interface Settings {
  readonly cloud: CloudName;
  readonly nodes: number;
  readonly isSmall: boolean;
  /** Of the scaled figures: multiplies the rate limits of the cloud and divides its latencies. */
  readonly scale: number;
}

export interface FigureContext extends Settings {
  readonly scenarios: Scenarios;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Tells who waits where things stand. */
  readonly say: (text: string) => void;
}

/** A figure once it was measured, or could not be. */
export type Outcome =
  | { readonly kind: 'measured'; readonly figure: Figure; readonly reading: Reading }
  | { readonly kind: 'failed'; readonly figure: Figure; readonly why: string };

export function isGood(outcome: Outcome): boolean {
  if (outcome.kind === 'failed') return false;
  const { figure, reading } = outcome;
  return figure.bound === 'exactly' ? reading.measured === figure.limit : reading.measured <= figure.limit;
}
