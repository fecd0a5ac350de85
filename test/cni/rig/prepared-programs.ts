// What tests in network namespaces need of this machine, and the programs that they run: built if they are not built yet.
import { spawnSync } from 'node:child_process';
import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isGoNewEnough, missingPieces, type Piece } from '../../e2e/rig/missing-pieces.ts';
import { type Building, buildProgram, isThere, pathOfProgram } from '../../support/go-program.ts';
import { cniPrograms } from './cni-programs.ts';

const root = join(import.meta.dirname, '../../..');

export type PreparedPrograms =
  /** A directory of CNI plugins and cnitool, which the caller removes. */
  | { readonly kind: 'ready'; readonly directory: string }
  /** How to get what is missing. */
  | { readonly kind: 'missing'; readonly advice: readonly string[] };

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

/** Rejects if the plugin does not compile. */
export async function preparePrograms(building: Building): Promise<PreparedPrograms> {
  const paths = await Promise.all(cniPrograms.map((program) => pathOfProgram(program, building.environment)));
  const built = await Promise.all(paths.map(isThere));
  const needed = built.includes(false) ? [compiler, ping, curl, go] : [compiler, ping, curl];
  const advice = [...(await missingPieces(needed)), namespaceAdvice() ?? []].flat();
  if (advice.length > 0) return { kind: 'missing', advice };
  for (const [index, program] of cniPrograms.entries()) {
    if (built[index] !== true) await buildProgram(program, paths[index] ?? '', building);
  }
  const { status } = spawnSync(process.execPath, [join(root, 'plugin/build.mjs')], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the plugin does not compile');
  const directory = await mkdtemp(join(tmpdir(), 'headwater-cni-'));
  for (const [index, { name }] of cniPrograms.entries()) {
    await symlink(paths[index] ?? '', join(directory, name));
  }
  await symlink(join(root, 'plugin/dist/headwater-ipam'), join(directory, 'headwater-ipam'));
  return { kind: 'ready', directory };
}

/** Undefined if a namespace can be made and entered here. */
function namespaceAdvice(): string | undefined {
  const name = `headwater-probe-${process.pid}`;
  const made = spawnSync('ip', ['netns', 'add', name]);
  const entered = spawnSync('ip', ['netns', 'exec', name, 'true']);
  spawnSync('ip', ['netns', 'del', name]);
  const works = made.status === 0 && entered.status === 0;
  return works ? undefined : 'network namespaces cannot be made: run as root, with iproute2 installed';
}
