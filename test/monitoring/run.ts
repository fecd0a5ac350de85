// Dashboards and alerts against a real Prometheus: runs the tests of this directory.
//
//   node test/monitoring/run.ts [--require] [arguments for Jest, such as the path of a test]
//
// If Prometheus or Alertmanager is missing, it says what to install and exits with 0, or with 1 with --require.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endedBySignals } from '../../rig/ended-by-signals.ts';
import { runJest } from '../support/jest-run.ts';

const execute = promisify(execFile);

async function missingPrograms(): Promise<readonly string[]> {
  const programs = ['prometheus', 'promtool', 'prometheus-alertmanager', 'amtool'];
  const runs = await Promise.all(
    programs.map((program) => execute(program, ['--version']).then(Boolean, () => false)),
  );
  return programs.filter((_, index) => runs[index] === false);
}

async function main(words: readonly string[], signal: AbortSignal): Promise<number> {
  const missing = await missingPrograms();
  if (missing.length > 0) {
    process.stdout.write(
      `not on the PATH: ${missing.join(', ')}: apt-get install prometheus prometheus-alertmanager\n`,
    );
    return words.includes('--require') ? 1 : 0;
  }
  return runJest({
    config: join(import.meta.dirname, 'jest.config.mjs'),
    args: words.filter((word) => word !== '--require'),
    environment: process.env,
    signal,
  });
}

await endedBySignals((signal) => main(process.argv.slice(2), signal));
