// The chart, by helm and on a real API server: builds both programs if that is not done yet, then runs the tests of this
// directory.
//
//   node test/chart/run.ts [--build-only] [arguments for Jest, such as the path of a test]
//
// It names what the machine lacks, with how to get it.
import { join } from 'node:path';
import { endedBySignals } from '../../rig/ended-by-signals.ts';
import { apiServerProgram } from '../e2e/rig/api-server-program.ts';
import { etcd, isGoNewEnough, missingPieces, type Piece, setpriv } from '../e2e/rig/missing-pieces.ts';
import { buildProgram, type GoProgram, isThere, pathOfProgram } from '../support/go-program.ts';
import { runJest } from '../support/jest-run.ts';
import { helmProgram } from './rig/helm-program.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const go: Piece = {
  command: ['go', 'version'],
  advice:
    'no Go 1.26 or newer is on the PATH, and helm and kube-apiserver are not both built yet: install one (https://go.dev/dl)',
  fits: (output) => isGoNewEnough(output, 26),
};

/** Variables by which the tests find the programs. */
const programs: readonly (readonly [variable: string, program: GoProgram])[] = [
  ['HEADWATER_HELM', helmProgram],
  ['HEADWATER_KUBE_APISERVER', apiServerProgram],
];

async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  const found = await Promise.all(
    programs.map(async ([variable, program]) => {
      const path = await pathOfProgram(program, process.env);
      return { variable, program, path, isBuilt: await isThere(path) };
    }),
  );
  const isBuilt = found.every((each) => each.isBuilt);
  const missing = await missingPieces(isBuilt ? [etcd, setpriv] : [etcd, setpriv, go]);
  if (missing.length > 0) {
    say(['the tests of the chart cannot run:', ...missing].join('\n  '));
    return 1;
  }
  for (const { program, path, isBuilt: isThisBuilt } of found) {
    if (!isThisBuilt) await buildProgram(program, path, { environment: process.env, signal, say });
  }
  if (args.includes('--build-only')) return 0;
  return runJest({
    config: join(import.meta.dirname, 'jest.config.mjs'),
    args,
    environment: {
      ...process.env,
      ...Object.fromEntries(found.map(({ variable, path }) => [variable, path])),
    },
    signal,
  });
}

await endedBySignals((signal) => main(process.argv.slice(2), signal));
