// The figures as JSON, for other programs.
import { isGood, type Outcome } from '../figure.ts';

export interface FigureReport {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly limit: number;
  readonly bound: string;
  readonly scenario: string;
  /** Null where it could not be measured; `details` says why. */
  readonly measured: number | null;
  readonly ratio: number | null;
  readonly ok: boolean;
  readonly details: string;
}

export function reportOf(outcome: Outcome): FigureReport {
  const { name, title, unit, limit, bound, scenario } = outcome.figure;
  const measured = outcome.kind === 'measured' ? outcome.reading.measured : null;
  return {
    name,
    title,
    unit,
    limit,
    bound,
    scenario,
    measured,
    ratio: measured === null || limit === 0 ? null : measured / limit,
    ok: isGood(outcome),
    details: outcome.kind === 'measured' ? outcome.reading.details : outcome.why,
  };
}
