// npm run simulate:blocks [-- --seeds FROM..TO] [-- --play COMMAND,...] [-- --mutants [--only TEXT] [--for SECONDS]]
// Plays simulated clusters whose nodes get blocks; with --mutants, applies deliberate mistakes and plays until each is detected.
// --only: those whose name has this text. --for: none is played for longer than so many seconds after the start; those that are not
// decided by then neither pass nor fail, but one has to pass.
import { parseArgs } from 'node:util';
import { secondsOf } from '../command-line.ts';
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

function readCommandLine() {
  const text = { type: 'string' } as const;
  const options = { seeds: text, play: text, only: text, for: text, mutants: { type: 'boolean' } } as const;
  const { values } = parseArgs({ options });
  const { seeds = '1..20', play: worlds = commands.join(), only = '', mutants = false } = values;
  const unknown = worlds.split(',').filter((world) => !commands.some((each) => each === world));
  if (unknown.length > 0) throw new Error(`--play has ${unknown.join()}; the worlds are ${commands.join()}`);
  const [, from, to = from] = /^(\d+)(?:\.\.(\d+))?$/.exec(seeds) ?? [];
  if (from === undefined) throw new Error(`--seeds is ${seeds}; 7 and 1..20 are accepted`);
  const time = secondsOf('for', values.for ?? 'Infinity') * 1000;
  return { seeds, from: Number(from), to: Number(to), worlds: worlds.split(','), only, mutants, time };
}

function given(): ReturnType<typeof readCommandLine> {
  try {
    return readCommandLine();
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}

const { seeds, from, to, worlds, only, mutants, time } = given();
const played = commands.filter((command) => worlds.includes(command));
if (mutants)
  process.exitCode = await playMutants({
    mutants: [...blockMutants, ...poolMutants, ...syncMutants, ...cloudMutants].filter(({ name }) =>
      name.includes(only),
    ),
    command: 'test/simulation/blocks/run.ts',
    argsOf: (mutant) => ['--play', worldOf(mutant)],
    seeds,
    time,
  });
else {
  const broken = await playAll(from, to, (line) => process.stdout.write(`${line}\n`));
  const count = (to - from + 1) * played.length;
  process.stdout.write(
    `${broken === undefined ? count : 0} passed, ${broken === undefined ? 0 : 1} failed\n`,
  );
  process.exitCode = broken === undefined ? 0 : 1;
}
