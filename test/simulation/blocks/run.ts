// npm run simulate:blocks [-- --seeds FROM..TO] [-- --play COMMAND,...] [-- --mutants [--only TEXT] [--for SECONDS]]
// Plays simulated clusters whose nodes get blocks; with --mutants, applies deliberate mistakes and plays until each is detected.
// --only: those whose name has this text. --for: none is played for longer than so many seconds after the start; those that are not
// decided by then neither pass nor fail.
import type { Mutant } from '../mutant.ts';
import { playMutants } from '../play-mutants.ts';
import type { BlockReport } from './block-life.ts';
import { playBlocks } from './block-run.ts';
import { blockMutants, cloudMutants, poolMutants, syncMutants } from './block-mutants.ts';
import { playPools } from './pool-run.ts';
import { playCloudAllocator, playSyncs } from './sync-run.ts';

const commands = ['run', 'nodeipam', 'multi-pool', 'sync', 'cloud'] as const;
type Command = (typeof commands)[number];

let playing = 'before the first seed';
// What a timer of the simulation throws ends no promise.
process.on('uncaughtException', (error) => {
  process.stdout.write(`${playing}: ended early\n  broken: a bug: ${String(error)}\n0 passed, 1 failed\n`);
  process.exit(1);
});

/** The first report with a violation, after which nothing more is played; undefined if there is none. */
async function playAll(
  from: number,
  to: number,
  say: (line: string) => void,
): Promise<BlockReport | undefined> {
  for (let seed = from; seed <= to; seed++) {
    for (const command of played) {
      playing = `seed ${seed}, ${command}`;
      const report = await play(String(seed), command);
      say(`seed ${seed}, ${command}: ${report.writes} writes, ${report.faults} faults`);
      for (const violation of report.violations) say(`  broken: ${violation}`);
      if (report.violations.length > 0) return report;
    }
  }
  return undefined;
}

function play(seed: string, command: Command): Promise<BlockReport> {
  if (command === 'sync') return playSyncs(seed);
  if (command === 'cloud') return playCloudAllocator(seed);
  return command === 'multi-pool' ? playPools(seed) : playBlocks(seed, command);
}

function worldOf(mutant: Mutant): string {
  if (syncMutants.includes(mutant)) return 'sync';
  if (cloudMutants.includes(mutant)) return 'cloud';
  return poolMutants.includes(mutant) ? 'multi-pool' : 'run,nodeipam';
}

const words = process.argv.slice(2);
const valueOf = (name: string): string | undefined =>
  words.includes(name) ? (words[words.indexOf(name) + 1] ?? '') : undefined;
const seeds = valueOf('--seeds') ?? '1..20';
const played = commands.filter((command) =>
  (valueOf('--play') ?? commands.join()).split(',').includes(command),
);
const [, from = '1', to = from] = /^(\d+)(?:\.\.(\d+))?$/.exec(seeds) ?? [];
if (words.includes('--mutants'))
  process.exitCode = await playMutants({
    mutants: [...blockMutants, ...poolMutants, ...syncMutants, ...cloudMutants].filter(({ name }) =>
      name.includes(valueOf('--only') ?? ''),
    ),
    command: 'test/simulation/blocks/run.ts',
    argsOf: (mutant) => ['--play', worldOf(mutant)],
    seeds,
    time: Number(valueOf('--for') ?? Infinity) * 1000,
  });
else {
  const broken = await playAll(Number(from), Number(to), (line) => process.stdout.write(`${line}\n`));
  const count = (Number(to) - Number(from) + 1) * played.length;
  process.stdout.write(
    `${broken === undefined ? count : 0} passed, ${broken === undefined ? 0 : 1} failed\n`,
  );
  process.exitCode = broken === undefined ? 0 : 1;
}
