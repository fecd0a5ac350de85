// The scenario of a seed, or of a file that keeps one which once failed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawScenario } from './draw-scenario.ts';
import type { Scenario } from './scenario.ts';

const regressions = fileURLToPath(new URL('regressions/', import.meta.url));

/** `name`: a seed, or a file with its ending `.json`: the name of one among the regressions, or an absolute path. */
export function scenarioNamed(name: string): Scenario {
  if (!name.endsWith('.json')) return drawScenario(name);
  return JSON.parse(readFileSync(resolve(regressions, name), 'utf8')) as Scenario;
}

/** Whether the file is there that `name` stands for. */
export function isKept(name: string): boolean {
  return existsSync(resolve(regressions, name));
}

/** Names of all files among the regressions, in order. */
export function regressionNames(): readonly string[] {
  return readdirSync(regressions)
    .filter((name) => name.endsWith('.json'))
    .toSorted();
}
