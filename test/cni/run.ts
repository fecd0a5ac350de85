// The agent and the CNI plugin with cnitool and the reference plugins, in network namespaces: builds what is not built yet,
// then runs the tests of this directory.
//
//   node test/cni/run.ts [--require] [arguments for Jest, such as the path of a test]
//
// Where something is missing it says so, and that the tests were not run, and exits with 0, or with 1 if `--require` is given.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endedBySignals } from '../../rig/ended-by-signals.ts';
import { isGoNewEnough, missingPieces, type Piece } from '../e2e/rig/missing-pieces.ts';
import { buildProgram, isThere, pathOfProgram } from '../support/go-program.ts';
import { runJest } from '../support/jest-run.ts';
import { cniPrograms } from './rig/cni-programs.ts';

const root = join(import.meta.dirname, '../..');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const compiler: Piece = {
  command: [process.env['CC'] ?? 'cc', '--version'],
  advice: 'no C compiler is on the PATH: apt-get install gcc libc6-dev',
};
const ping: Piece = {
  command: ['ping', '-V'],
  advice: 'ping is not on the PATH: apt-get install iputils-ping',
};
const curl: Piece = {
  command: ['curl', '--version'],
  advice: 'curl is not on the PATH: apt-get install curl',
};
const go: Piece = {
  command: ['go', 'version'],
  advice: 'no Go 1.26 or newer is on the PATH (https://go.dev/dl)',
  fits: (output) => isGoNewEnough(output, 26),
};

/** Undefined if a namespace can be made and entered here. */
function namespaceAdvice(): string | undefined {
  const name = `headwater-probe-${process.pid}`;
  const made = spawnSync('ip', ['netns', 'add', name]);
  const entered = spawnSync('ip', ['netns', 'exec', name, 'true']);
  spawnSync('ip', ['netns', 'del', name]);
  const works = made.status === 0 && entered.status === 0;
  return works ? undefined : 'network namespaces cannot be made: run as root, with iproute2 installed';
}

/** The paths of the programs, or what is missing to run the tests. */
async function prepare(signal: AbortSignal): Promise<{ paths: string[]; missing: string[] }> {
  const paths = await Promise.all(cniPrograms.map((program) => pathOfProgram(program, process.env)));
  const built = await Promise.all(paths.map(isThere));
  const needed = built.includes(false) ? [compiler, ping, curl, go] : [compiler, ping, curl];
  const missing = [...(await missingPieces(needed)), namespaceAdvice() ?? []].flat();
  for (const [index, program] of cniPrograms.entries()) {
    if (missing.length > 0 || built[index] === true) continue;
    await buildProgram(program, paths[index] ?? '', { environment: process.env, signal, say });
  }
  return { paths, missing };
}

async function main(words: readonly string[], signal: AbortSignal): Promise<number> {
  const { paths, missing } = await prepare(signal);
  if (missing.length > 0) {
    say(['not run: the tests in network namespaces, because', ...missing].join('\n  '));
    // Without a count, continuous integration takes it for one that passed.
    say('0 passed, 0 failed');
    return words.includes('--require') ? 1 : 0;
  }
  const { status } = spawnSync(process.execPath, [join(root, 'plugin/build.mjs')], { stdio: 'inherit' });
  if (status !== 0) return 1;
  const programs = await mkdtemp(join(tmpdir(), 'headwater-cni-'));
  try {
    for (const [index, { name }] of cniPrograms.entries()) {
      await symlink(paths[index] ?? '', join(programs, name));
    }
    await symlink(join(root, 'plugin/dist/headwater-ipam'), join(programs, 'headwater-ipam'));
    return await runJest({
      config: join(import.meta.dirname, 'jest.config.mjs'),
      args: words.filter((word) => word !== '--require'),
      environment: { ...process.env, HEADWATER_CNI_PATH: programs },
      signal,
    });
  } finally {
    await rm(programs, { recursive: true });
  }
}

await endedBySignals((signal) => main(process.argv.slice(2), signal));
