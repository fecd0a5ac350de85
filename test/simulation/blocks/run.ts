// npm run simulate:blocks [-- --seeds FROM..TO] [-- --mutants]
// Plays simulated clusters whose nodes get blocks; with --mutants, applies deliberate mistakes and plays until one is detected.
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createMutatedCopy } from '../mutated-copy.ts';
import { type BlockReport, playBlocks } from './block-run.ts';
import { blockMutants } from './block-mutants.ts';

const commands = ['run', 'nodeipam'] as const;

/** The first report with a violation, after which nothing more is played; undefined if there is none. */
async function playAll(
  from: number,
  to: number,
  say: (line: string) => void,
): Promise<BlockReport | undefined> {
  for (let seed = from; seed <= to; seed++) {
    for (const command of commands) {
      const report = await playBlocks(String(seed), command);
      say(`seed ${seed}, ${command}: ${report.writes} writes, ${report.faults} faults`);
      for (const violation of report.violations) say(`  broken: ${violation}`);
      if (report.violations.length > 0) return report;
    }
  }
  return undefined;
}

function playCopy(copy: string, seeds: string): Promise<string> {
  return new Promise((resolve) => {
    const args = [join(copy, 'test/simulation/blocks/run.ts'), '--seeds', seeds];
    execFile(process.execPath, args, { timeout: 240_000 }, (_, stdout) => resolve(stdout));
  });
}

async function testMutants(seeds: string): Promise<number> {
  let survived = 0;
  for (const mutant of blockMutants) {
    const copy = createMutatedCopy(mutant);
    const said = await playCopy(copy, seeds);
    rmSync(copy, { recursive: true, force: true });
    const broken = /broken: (.*)/.exec(said)?.[1];
    if (broken === undefined) survived++;
    process.stdout.write(
      `${broken === undefined ? 'SURVIVED' : 'detected'}: ${mutant.name}\n    ${broken ?? ''}\n`,
    );
  }
  process.stdout.write(`${blockMutants.length - survived} passed, ${survived} failed\n`);
  return survived === 0 ? 0 : 1;
}

const words = process.argv.slice(2);
const seeds = words.includes('--seeds') ? (words[words.indexOf('--seeds') + 1] ?? '') : '1..20';
const [, from = '1', to = from] = /^(\d+)(?:\.\.(\d+))?$/.exec(seeds) ?? [];
if (words.includes('--mutants')) process.exitCode = await testMutants(seeds);
else {
  const broken = await playAll(Number(from), Number(to), (line) => process.stdout.write(`${line}\n`));
  const count = (Number(to) - Number(from) + 1) * commands.length;
  process.stdout.write(
    `${broken === undefined ? count : 0} passed, ${broken === undefined ? 0 : 1} failed\n`,
  );
  process.exitCode = broken === undefined ? 0 : 1;
}
