// npm run simulate:blocks [-- --seeds FROM..TO] [-- --mutants [--only TEXT] [--for SECONDS]]
// Plays simulated clusters whose nodes get blocks; with --mutants, applies deliberate mistakes and plays until each is detected.
// --only: those whose name has this text. --for: none is played for longer than so many seconds after the start; those that are not
// decided by then neither pass nor fail.
import { playMutants } from '../play-mutants.ts';
import { type BlockReport, playBlocks } from './block-run.ts';
import { blockMutants } from './block-mutants.ts';

const commands = ['run', 'nodeipam'] as const;

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
    for (const command of commands) {
      playing = `seed ${seed}, ${command}`;
      const report = await playBlocks(String(seed), command);
      say(`seed ${seed}, ${command}: ${report.writes} writes, ${report.faults} faults`);
      for (const violation of report.violations) say(`  broken: ${violation}`);
      if (report.violations.length > 0) return report;
    }
  }
  return undefined;
}

const words = process.argv.slice(2);
const valueOf = (name: string): string | undefined =>
  words.includes(name) ? (words[words.indexOf(name) + 1] ?? '') : undefined;
const seeds = valueOf('--seeds') ?? '1..20';
const [, from = '1', to = from] = /^(\d+)(?:\.\.(\d+))?$/.exec(seeds) ?? [];
if (words.includes('--mutants'))
  process.exitCode = await playMutants({
    mutants: blockMutants.filter(({ name }) => name.includes(valueOf('--only') ?? '')),
    command: 'test/simulation/blocks/run.ts',
    seeds,
    time: Number(valueOf('--for') ?? Infinity) * 1000,
  });
else {
  const broken = await playAll(Number(from), Number(to), (line) => process.stdout.write(`${line}\n`));
  const count = (Number(to) - Number(from) + 1) * commands.length;
  process.stdout.write(
    `${broken === undefined ? count : 0} passed, ${broken === undefined ? 0 : 1} failed\n`,
  );
  process.exitCode = broken === undefined ? 0 : 1;
}
