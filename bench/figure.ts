// A line of the table: what is measured, in which scenario, and its limit.
import type { CloudName } from './clouds/bench-cloud.ts';
import type { Scenarios } from './scenarios/scenarios.ts';

export interface Figure {
  /** The name, as `--only` takes it. */
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly limit: number;
  /** The measured value may be anything up to the limit, or must be the limit itself. */
  readonly bound: 'atMost' | 'exactly';
  /** The actions and the counted events, in one or two sentences. */
  readonly scenario: string;
  readonly measure: (scenarios: Scenarios) => Promise<Reading>;
}

/** A figure of clouds, with what it may be on each; it is measured on those that are named. Its file has its name. */
export interface CloudFigure extends Omit<Figure, 'limit' | 'scenario' | 'measure'> {
  readonly limits: Readonly<Partial<Record<CloudName, number>>>;
  /** Whether the small form, which measures no times, has it. */
  readonly inSmallForm: boolean;
  readonly scenario: (settings: Settings) => string;
  readonly measure: (context: FigureContext) => Promise<Reading>;
}

export interface Reading {
  readonly measured: number;
  /** The measurements behind the number. */
  readonly details: string;
}

export interface Settings {
  readonly cloud: CloudName;
  readonly nodes: number;
  readonly isSmall: boolean;
  /** The factor of scaled figures: multiplies the rate limits of the cloud and divides its latencies. */
  readonly scale: number;
}

export interface FigureContext extends Settings {
  readonly scenarios: Scenarios;
}

/** A figure once it was measured, or could not be. */
export type Outcome =
  | { readonly kind: 'measured'; readonly figure: Figure; readonly reading: Reading }
  | { readonly kind: 'failed'; readonly figure: Figure; readonly why: string };

/** The figures of one cloud, in the same order: all, or those of the small form. */
export function figuresOn(settings: Settings, figures: readonly CloudFigure[]): readonly Figure[] {
  return figures.flatMap(({ limits, inSmallForm, scenario, measure, ...line }) => {
    const limit = limits[settings.cloud];
    if (limit === undefined || (settings.isSmall && !inSmallForm)) return [];
    return [
      {
        ...line,
        limit,
        scenario: scenario(settings),
        measure: (scenarios) => measure({ ...settings, scenarios }),
      },
    ];
  });
}

/**
 * The figures of these names, in the order of the names; all figures if there are no names. Throws an Error that lists
 * unknown names.
 */
export function figuresCalled(names: readonly string[], known: readonly Figure[]): readonly Figure[] {
  if (names.length === 0) return known;
  return names.map((name) => {
    const found = known.find((figure) => figure.name === name);
    if (found !== undefined) return found;
    throw new Error(
      `there is no figure ${name}; there are: ${known.map((figure) => figure.name).join(', ')}`,
    );
  });
}

export function isGood(outcome: Outcome): boolean {
  if (outcome.kind === 'failed') return false;
  const { figure, reading } = outcome;
  return figure.bound === 'exactly' ? reading.measured === figure.limit : reading.measured <= figure.limit;
}
