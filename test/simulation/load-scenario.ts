// Loads the scenario of a seed, or of a file with a regression.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawAlibabaScenario } from './draw-alibaba.ts';
import { drawAzureScenario } from './draw-azure.ts';
import { drawScenario } from './draw-scenario.ts';
import type { Scenario } from './scenario.ts';
import { cloudOfSeed, type SeedCloud } from './seed-cloud.ts';

const regressions = fileURLToPath(new URL('regressions/', import.meta.url));

const draw: Readonly<Record<SeedCloud, (seed: string) => Scenario>> = {
  alibaba: drawAlibabaScenario,
  aws: drawScenario,
  azure: drawAzureScenario,
};

/** `name`: a seed, or a file that ends in `.json`: a regression by name, or an absolute path. */
export function loadScenario(name: string): Scenario {
  if (!name.endsWith('.json')) return draw[cloudOfSeed(name)](name);
  return JSON.parse(readFileSync(resolve(regressions, name), 'utf8')) as Scenario;
}

/** Whether the file exists. */
export function scenarioExists(name: string): boolean {
  return existsSync(resolve(regressions, name));
}

/** File names of all regressions, sorted. */
export function regressionNames(): readonly string[] {
  return readdirSync(regressions)
    .filter((name) => name.endsWith('.json'))
    .toSorted();
}
