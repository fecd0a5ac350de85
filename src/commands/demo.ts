// Runs the command demo: reads its flags and chooses where to show it.
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RawFlags } from '../config/raw-option.ts';
import { chaptersOf } from './demo/blocks/block-chapters.ts';
import { BlockDemonstration } from './demo/blocks/block-demonstration.ts';
import { Demonstration } from './demo/demonstration.ts';
import { liveScreen, plainScreen, type Screen } from './demo/screen.ts';
import { demoKinds } from './demo-description.ts';
import { exitCode } from './exit-code.ts';
import { lastOf, readFlags } from './flag-values.ts';

export async function demo(given: RawFlags): Promise<number> {
  const read = readFlags(given, demoKinds);
  if (typeof read === 'string') return refuse(read);
  const { nodes = 50, ipam: mode = 'eni', cloud = 'aws' } = read;
  const dropped = droppedFlags(given, { mode, cloud });
  if (dropped !== undefined) return refuse(dropped);
  const unwritable = await temporaryProblem();
  if (unwritable !== undefined) return refuse(unwritable);
  const interrupt = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (interrupt.signal.aborted) process.exit(exitCode.interrupted); // a second signal means: exit now
      interrupt.abort();
    });
  }
  const seed = lastOf(given, 'seed') ?? 'headwater';
  if (mode !== 'eni') {
    const printLine = (line: string): void => void process.stdout.write(`${line}\n`);
    const show = new BlockDemonstration({
      mode,
      nodes: 60,
      seed,
      printLine,
      interrupt: interrupt.signal,
    });
    return show.run(chaptersOf(show));
  }
  const show = new Demonstration({
    cloud,
    nodes,
    seed,
    keepRunning: given.has('keep-running'),
    prometheus: given.has('prometheus'),
    screen: screenFor(given.has('plain')),
    interrupt: interrupt.signal,
  });
  return show.run();
}

function refuse(problem: string): number {
  process.stderr.write(`headwater demo: ${problem}\n`);
  return exitCode.usage;
}

/** Why flags would be without effect; undefined if none would. */
function droppedFlags(
  given: RawFlags,
  { mode, cloud }: Readonly<Record<'cloud' | 'mode', string>>,
): string | undefined {
  if (mode === 'eni')
    return given.has('ipam') && cloud !== 'aws'
      ? '--ipam eni is the mode of aws: leave out --ipam, or --cloud'
      : undefined;
  const flags = ['cloud', 'nodes', 'keep-running', 'prometheus'].filter((name) => given.has(name));
  return flags.length === 0
    ? undefined
    : `--ipam ${mode} shows blocks without a cloud, for 60 nodes: leave out ${flags.map((name) => `--${name}`).join(', ')}`;
}

/** Why no file can be written for the parts of a demonstration; undefined if some can. */
async function temporaryProblem(): Promise<string | undefined> {
  const place = tmpdir();
  try {
    await rmdir(await mkdtemp(join(place, 'headwater-demo-')));
    return undefined;
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return `cannot create a directory in ${place} (${code}): name one in TMPDIR that exists and can be written`;
  }
}

function screenFor(plain: boolean): Screen {
  const { stdout } = process;
  const terminal = {
    write: (text: string): void => void stdout.write(text),
    // 0 means that the size is unknown.
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
  };
  return plain || !stdout.isTTY ? plainScreen(terminal) : liveScreen(terminal);
}
