// Runs the program helm without the configuration of the user.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { objectsIn } from '../../../rig/manifests.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';

export const chart = join(import.meta.dirname, '../../../charts/headwater');
/** The first working version of the chart. */
export const frozenChart = join(import.meta.dirname, '../0.1.0');
const valuesDirectory = join(import.meta.dirname, '../values');

/** File names without their ending. */
export const valueFiles: readonly string[] = (await readdir(valuesDirectory))
  .map((name) => name.replace(/\.yaml$/, ''))
  .toSorted();

export function pathOfValues(name: string): string {
  return join(valuesDirectory, `${name}.yaml`);
}

export interface HelmAnswer {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

/** Resolves with the answer, successful or not. */
export async function helm(...args: readonly string[]): Promise<HelmAnswer> {
  const program = process.env['HEADWATER_HELM'];
  if (program === undefined) throw new Error('no helm: run these tests by npm run test:chart');
  const home = await mkdtemp(join(tmpdir(), 'helm-'));
  const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: join(home, 'none') };
  try {
    return await new Promise((resolve) => {
      execFile(program, args, { env, maxBuffer: 16 << 20 }, (error, output, errors) =>
        resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), output, errors }),
      );
    });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Resolves with the output. Rejects with the error message of helm. */
export async function helmDone(...args: readonly string[]): Promise<string> {
  const { exitCode, output, errors } = await helm(...args);
  if (exitCode !== 0) throw new Error(`helm ${args[0]} ended with ${exitCode}: ${errors}${output}`);
  return output;
}

export interface Rendering {
  readonly chart?: string;
  readonly namespace?: string;
  readonly args?: readonly string[];
}

/** Every object that the chart renders from the file of values. */
export async function render(values: string, rendering: Rendering = {}): Promise<readonly JsonObject[]> {
  const { chart: from = chart, namespace = 'kube-system', args = [] } = rendering;
  const named = ['headwater', from, '--namespace', namespace, '--values', pathOfValues(values)];
  const apis = ['--api-versions', 'monitoring.coreos.com/v1'];
  return objectsIn(await helmDone('template', ...named, ...apis, ...args));
}

/** The answer of helm to `template` with these values in addition to the minimal ones. */
export function templateWith(values: JsonObject): Promise<HelmAnswer> {
  return templateWithText(stringify(values));
}

/** The same with a file of this text. */
export async function templateWithText(text: string): Promise<HelmAnswer> {
  const directory = await mkdtemp(join(tmpdir(), 'values-'));
  const file = join(directory, 'values.yaml');
  try {
    await writeFile(file, text);
    return await helm('template', 'headwater', chart, '--values', pathOfValues('least'), '--values', file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
