// The scenario of a seed, or of a file that keeps one which once failed.
import { readdirSync, readFileSync } from 'node:fs';
import { drawScenario } from './draw-scenario.ts';
import type { Scenario } from './scenario.ts';

const regressions = new URL('regressions/', import.meta.url);

/** `name`: a seed, or the name of a file among the regressions, with its ending. */
export function scenarioNamed(name: string): Scenario {
  if (!name.endsWith('.json')) return drawScenario(name);
  return JSON.parse(readFileSync(new URL(name, regressions), 'utf8')) as Scenario;
}

/** Names of all files that keep one, in order. */
export function regressionNames(): readonly string[] {
  return readdirSync(regressions)
    .filter((name) => name.endsWith('.json'))
    .toSorted();
}
