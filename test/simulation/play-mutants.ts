// Applies deliberate mistakes one after the other, each in a copy of the sources, and plays seeds until the simulation detects it.
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/runtime/system-clock.ts';
import type { Mutant } from './mutant.ts';
import { createMutatedCopy } from './mutated-copy.ts';

/** The time limit of a mutant, in ms. */
const maxPlay = 600_000;

export interface MutantPlan {
  readonly mutants: readonly Mutant[];
  /** The command that plays seeds, from the root: it says `seed N, FORM: ...`, and `  broken: ...` for what it detects. */
  readonly command: string;
  readonly seeds: string;
  /** Further arguments of the command for a mutant. Default: none. */
  readonly argsOf?: (mutant: Mutant) => readonly string[];
  /** The time limit of all mutants, in ms. */
  readonly time: number;
}

type Verdict = 'detected' | 'SURVIVED' | 'ended early' | 'not decided in time';

/**
 * Resolves to the exit code: 1 if a mutant survives or ends the simulation without a word, if the time does not suffice for
 * any, or if one is not decided although the time has no limit.
 */
export async function playMutants(plan: MutantPlan): Promise<number> {
  const end = systemClock.monotonic() + plan.time;
  const counts = { detected: 0, SURVIVED: 0, 'ended early': 0, 'not decided in time': 0 };
  for (const mutant of plan.mutants) {
    const left = end - systemClock.monotonic();
    const { verdict, how } = await judge(mutant, plan, Math.min(left, maxPlay));
    counts[verdict]++;
    process.stdout.write(`${verdict}: ${mutant.name}\n${how}`);
  }
  const failed = counts.SURVIVED + counts['ended early'];
  process.stdout.write(`${counts['not decided in time']} not decided in time\n`);
  process.stdout.write(`${counts.detected} passed, ${failed} failed\n`);
  const isEnough = counts.detected > 0 && (counts['not decided in time'] === 0 || plan.time < Infinity);
  return failed === 0 && isEnough ? 0 : 1;
}

interface Judgement {
  readonly verdict: Verdict;
  /** The seed that detects it, and by what; or what the simulation says last. */
  readonly how: string;
}

async function judge(mutant: Mutant, plan: MutantPlan, time: number): Promise<Judgement> {
  if (time <= 0) return { verdict: 'not decided in time', how: '' };
  const copy = createMutatedCopy(mutant);
  const { command, seeds, argsOf = () => [] } = plan;
  const args = [join(copy, command), '--seeds', seeds, ...argsOf(mutant)];
  const played = await playCopy(args, Math.ceil(time));
  rmSync(copy, { recursive: true, force: true });
  return judgementOf(played);
}

interface Played {
  readonly said: string;
  /** Whether it was stopped because its time was over. */
  readonly isStopped: boolean;
}

export function judgementOf({ said, isStopped }: Played): Judgement {
  const [, seed, violation] = /(seed \d+, [\w-]+): [^\n]*\n {2}broken: (.*)/.exec(said) ?? [];
  if (violation !== undefined) return { verdict: 'detected', how: `    ${seed}: ${violation}\n` };
  if (/^[1-9]\d* passed, 0 failed$/m.test(said)) return { verdict: 'SURVIVED', how: '' };
  if (isStopped) return { verdict: 'not decided in time', how: '' };
  return { verdict: 'ended early', how: `    ${said.trim().split('\n').at(-1)}\n` };
}

function playCopy(args: readonly string[], timeout: number): Promise<Played> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout }, (error, stdout, stderr) =>
      resolve({ said: stdout === '' ? stderr : stdout, isStopped: error?.killed === true }),
    );
  });
}
