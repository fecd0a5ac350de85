// npm run simulate:agent [-- --seeds FROM..TO] [-- --mutants [--only TEXT] [--for SECONDS]]
// Plays simulated nodes whose pods get addresses of the product agent; with --mutants, applies deliberate mistakes and plays until
// each is detected. --only: those whose name has this text. --for: none is played for longer than so many seconds after the start;
// those that are not decided by then neither pass nor fail, but one has to pass.
import { refuse, secondsOf } from '../command-line.ts';
import { playMutants } from '../play-mutants.ts';
import { Killed } from './agent-machine.ts';
import { agentMutants } from './agent-mutants.ts';
import { agentModes, playAgent } from './agent-run.ts';

let playing = 'before the first seed';
// An error that a timer of the simulation throws rejects no promise.
process.on('uncaughtException', (error) => {
  // A killed agent's step that nothing waits for throws this.
  if (error instanceof Killed) return;
  process.stdout.write(`${playing}: ended early\n  broken: a bug: ${String(error)}\n0 passed, 1 failed\n`);
  process.exit(1);
});

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Whether all of them pass; nothing is played after the first that does not. */
async function playAll(from: number, to: number): Promise<boolean> {
  for (let seed = from; seed <= to; seed++) {
    for (const mode of agentModes) {
      playing = `seed ${seed}, ${mode}`;
      const { pods, faults, violations } = await playAgent(String(seed), mode);
      say(`${playing}: ${pods} pods, ${faults} faults`);
      for (const violation of violations) say(`  broken: ${violation}`);
      if (violations.length > 0) return false;
    }
  }
  return true;
}

/** Undefined after the reason was printed. */
function timeIn(text: string): number | undefined {
  try {
    return secondsOf('for', text) * 1000;
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

const words = process.argv.slice(2);
const valueOf = (name: string): string | undefined =>
  words.includes(name) ? (words[words.indexOf(name) + 1] ?? '') : undefined;
// A mutant ends at the first seed that detects it, and some are detected late.
const seeds = valueOf('--seeds') ?? (words.includes('--mutants') ? '1..60' : '1..20');
const [, from = '1', to = from] = /^(\d+)(?:\.\.(\d+))?$/.exec(seeds) ?? [];
const time = timeIn(valueOf('--for') ?? 'Infinity');
if (time !== undefined && words.includes('--mutants'))
  process.exitCode = await playMutants({
    mutants: agentMutants.filter(({ name }) => name.includes(valueOf('--only') ?? '')),
    command: 'test/simulation/agent/run.ts',
    seeds,
    time,
  });
else if (time !== undefined) {
  const passes = await playAll(Number(from), Number(to));
  const count = (Number(to) - Number(from) + 1) * agentModes.length;
  say(`${passes ? count : 0} passed, ${passes ? 0 : 1} failed`);
  process.exitCode = passes ? 0 : 1;
}
