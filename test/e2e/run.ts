// The controller on a real API server: builds kube-apiserver if that is not done yet, then runs the tests of this directory.
//
//   node test/e2e/run.ts [--build-only] [what Jest is to be told, such as the path of a test]
//   node test/e2e/run.ts --kills N [--lease 15s] [--nodes N]    only: kills N leaders, and prints how long takeovers took
//
// What the machine lacks it names, with how to get it.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { apiServerProgram, buildApiServer, isThere } from './rig/api-server-program.ts';
import { missingPieces } from './rig/missing-pieces.ts';
import { planVariables, takeoverPlan } from './rig/takeover-plan.ts';

const root = join(import.meta.dirname, '../..');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Wish {
  /** For Jest. */
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** Takes the options of the takeovers out, for the tests find them in their environment. */
function wishOf(words: readonly string[]): Wish {
  const environment = { ...process.env };
  const args = [...words];
  for (const name of ['kills', 'lease', 'nodes'] as const) {
    const at = args.indexOf(`--${name}`);
    if (at >= 0) environment[planVariables[name]] = args.splice(at, 2)[1] ?? '';
  }
  takeoverPlan(environment);
  return { args: words.includes('--kills') ? [...args, 'scenarios/kills'] : args, environment };
}

async function main(words: readonly string[], signal: AbortSignal): Promise<number> {
  const { args, environment } = wishOf(words);
  const program = await apiServerProgram(process.env);
  const isBuilt = await isThere(program);
  const missing = await missingPieces({ go: !isBuilt });
  if (missing.length > 0) {
    say(['the tests on a real API server cannot run:', ...missing].join('\n  '));
    return 1;
  }
  if (!isBuilt) await buildApiServer(program, { environment: process.env, signal, say });
  if (args.includes('--build-only')) return 0;
  await promisify(execFile)(process.execPath, [join(root, 'build.mjs')], { cwd: root, signal });
  return runJest(program, { args, environment });
}

/** Everything that the tests write lies in a directory that is gone afterwards. */
async function runJest(program: string, { args, environment }: Wish): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'headwater-e2e-'));
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const config = join(import.meta.dirname, 'jest.config.mjs');
  const words = ['--experimental-vm-modules', '--no-warnings', jest, '--config', config, ...args];
  try {
    const child = spawn(process.execPath, words, {
      cwd: root,
      stdio: 'inherit',
      // A group of their own: Jest does not end its workers when it is ended.
      detached: true,
      env: { ...environment, TMPDIR: directory, HEADWATER_KUBE_APISERVER: program },
    });
    const end = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    };
    interrupt.signal.addEventListener('abort', end, { once: true });
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupt.abort(new Error(name)));
try {
  process.exitCode = await main(process.argv.slice(2), interrupt.signal);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
