// The agent and the CNI plugin with cnitool and the reference plugins, in network namespaces: builds what is not built yet,
// then runs the tests of this directory.
//
//   node test/cni/run.ts [--require] [arguments for Jest, such as the path of a test]
//
// Where something is missing it says so, and that the tests were not run, and exits with 0, or with 1 if `--require` is given.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { endedBySignals } from '../../rig/ended-by-signals.ts';
import { runJest } from '../support/jest-run.ts';
import { preparePrograms } from './rig/prepared-programs.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(words: readonly string[], signal: AbortSignal): Promise<number> {
  const programs = await preparePrograms({ environment: process.env, signal, say });
  if (programs.kind === 'missing') {
    say(['not run: the tests in network namespaces, because', ...programs.advice].join('\n  '));
    // Without a count, continuous integration takes it for one that passed.
    say('0 passed, 0 failed');
    return words.includes('--require') ? 1 : 0;
  }
  const { directory } = programs;
  try {
    return await runJest({
      config: join(import.meta.dirname, 'jest.config.mjs'),
      args: words.filter((word) => word !== '--require'),
      environment: { ...process.env, HEADWATER_CNI_PATH: directory },
      signal,
    });
  } finally {
    await rm(directory, { recursive: true });
  }
}

await endedBySignals((signal) => main(process.argv.slice(2), signal));
