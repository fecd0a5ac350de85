// Runs Jest as a process, for suites that need more than the sources.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');

export interface JestRun {
  /** Its path. */
  readonly config: string;
  /** Arguments of Jest, such as the path of a test. */
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Stops it when aborted. */
  readonly signal: AbortSignal;
}

/**
 * Runs Jest on a bundle of the present sources and resolves to its exit code. Everything that tests write is in a
 * directory that is removed afterwards.
 */
export async function runJest({ config, args, environment, signal }: JestRun): Promise<number> {
  await promisify(execFile)(process.execPath, [join(root, 'build.mjs')], { cwd: root, signal });
  const directory = await mkdtemp(join(tmpdir(), 'headwater-tests-'));
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const words = ['--experimental-vm-modules', '--no-warnings', jest, '--config', config, ...args];
  try {
    const child = spawn(process.execPath, words, {
      cwd: root,
      stdio: 'inherit',
      // A process group, because Jest does not end its workers when it is killed.
      detached: true,
      env: { ...environment, TMPDIR: directory },
    });
    const end = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    };
    signal.addEventListener('abort', end, { once: true });
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
