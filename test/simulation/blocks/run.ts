// npm run simulate:blocks [-- --seeds FROM..TO] [-- --play COMMAND,...] [-- --mutants [--only TEXT] [--for SECONDS]]
// Plays simulated clusters whose nodes get blocks; with --mutants, applies deliberate mistakes and plays until each is detected.
// --only: those whose name has this text. --for: none is played for longer than so many seconds after the start; those that are not
// decided by then neither pass nor fail.
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import type { Mutant } from '../mutant.ts';
import { createMutatedCopy } from '../mutated-copy.ts';
import { type BlockReport, playBlocks } from './block-run.ts';
import { blockMutants, poolMutants } from './block-mutants.ts';
import { playPools } from './pool-run.ts';

const commands = ['run', 'nodeipam', 'multi-pool'] as const;
type Command = (typeof commands)[number];
/** Of one mutant, in ms. */
const longestPlay = 600_000;

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
  return command === 'multi-pool' ? playPools(seed) : playBlocks(seed, command);
}

function playCopy(
  copy: string,
  { seeds, play }: { readonly seeds: string; readonly play: string },
  timeout: number,
): Promise<string> {
  return new Promise((resolve) => {
    const args = [join(copy, 'test/simulation/blocks/run.ts'), '--seeds', seeds, '--play', play];
    execFile(process.execPath, args, { timeout }, (_, stdout) => resolve(stdout));
  });
}

interface MutantPlan {
  readonly seeds: string;
  readonly only: string;
  /** Ms. */
  readonly time: number;
}

async function testMutants({ seeds, only, time }: MutantPlan): Promise<number> {
  const end = systemClock.monotonic() + time;
  const wanted = [...blockMutants, ...poolMutants].filter(({ name }) => name.includes(only));
  const counts = { detected: 0, SURVIVED: 0, 'not decided in time': 0 };
  for (const mutant of wanted) {
    const left = end - systemClock.monotonic();
    const { verdict, how } = await judge(mutant, seeds, Math.min(left, longestPlay));
    counts[verdict]++;
    process.stdout.write(`${verdict}: ${mutant.name}\n${how}`);
  }
  process.stdout.write(`${counts['not decided in time']} not decided in time\n`);
  process.stdout.write(`${counts.detected} passed, ${counts.SURVIVED} failed\n`);
  const isWhole = time === Infinity;
  return counts.SURVIVED === 0 && (counts['not decided in time'] === 0 || !isWhole) ? 0 : 1;
}

interface Judgement {
  readonly verdict: 'detected' | 'SURVIVED' | 'not decided in time';
  /** The seed that detects it, and by what. */
  readonly how: string;
}

async function judge(mutant: Mutant, seeds: string, time: number): Promise<Judgement> {
  if (time <= 0) return { verdict: 'not decided in time', how: '' };
  const copy = createMutatedCopy(mutant);
  const play = poolMutants.includes(mutant) ? 'multi-pool' : 'run,nodeipam';
  const said = await playCopy(copy, { seeds, play }, Math.ceil(time));
  rmSync(copy, { recursive: true, force: true });
  const [, seed, violation] = /(seed \d+, [\w-]+): [^\n]*\n {2}broken: (.*)/.exec(said) ?? [];
  if (violation !== undefined) return { verdict: 'detected', how: `    ${seed}: ${violation}\n` };
  const isWhole = /^\d+ passed, 0 failed$/m.test(said);
  return { verdict: isWhole ? 'SURVIVED' : 'not decided in time', how: '' };
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
  process.exitCode = await testMutants({
    seeds,
    only: valueOf('--only') ?? '',
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
