// Measures figures one after another.
import type { Figure, Outcome } from './figure.ts';
import type { Harness, Scenarios } from './scenarios/scenarios.ts';

/** A figure that cannot be measured stops no other. Rejects with the signal's reason once it is aborted. */
export async function measureAll(
  figures: readonly Figure[],
  scenarios: Scenarios,
  { signal, say }: Pick<Harness, 'signal' | 'say'>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const figure of figures) {
    say(`[${outcomes.length + 1}/${figures.length}] ${figure.title}`);
    try {
      outcomes.push({ kind: 'measured', figure, reading: await figure.measure(scenarios) });
    } catch (error) {
      signal.throwIfAborted();
      outcomes.push({ kind: 'failed', figure, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return outcomes;
}
