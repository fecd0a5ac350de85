// Builds programs from Go modules of others, and keeps them outside the tree for the next run.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface GoProgram {
  readonly name: string;
  readonly version: string;
  /** The directory of go.mod. */
  readonly sources: string;
  /** The main package, as `go build` accepts it. */
  readonly package: string;
  /** Its source files, in `sources`. */
  readonly files: readonly string[];
  readonly linkerFlags: string;
}

export interface Building {
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Receives progress messages. */
  readonly say: (line: string) => void;
}

/** The path of the program: a different one for each version and each change of its sources. */
export async function pathOfProgram(program: GoProgram, environment: NodeJS.ProcessEnv): Promise<string> {
  const { name, version, sources, files, linkerFlags } = program;
  const hash = createHash('sha256').update(linkerFlags);
  for (const file of files) hash.update(await readFile(join(sources, file)));
  const cache = environment['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'headwater', `${name}-${version}-${hash.digest('hex').slice(0, 12)}`);
}

export async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Builds the program at `path`. On failure it rejects with the last output of Go and leaves nothing at `path`. */
export async function buildProgram(program: GoProgram, path: string, building: Building): Promise<void> {
  const { name, version, sources, package: main, linkerFlags } = program;
  const { environment, signal, say } = building;
  const env = { ...environment, CGO_ENABLED: '0' };
  const unfinished = `${path}.${process.pid}`;
  await mkdir(join(path, '..'), { recursive: true });
  say(`building ${name} ${version} into ${path}: minutes the first time`);
  try {
    let total = 0;
    await go(['list', '-deps', main], { sources, env, signal, onOut: () => total++ });
    let done = 0;
    const onError = (): void => {
      if (++done % 100 === 0) say(`  ${done} of at most ${total} packages are compiled`);
    };
    const build = ['build', '-v', '-trimpath', '-ldflags', linkerFlags, '-o', unfinished, main];
    await go(build, { sources, env, signal, onError });
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

interface GoRun {
  readonly sources: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onOut?: (line: string) => void;
  readonly onError?: (line: string) => void;
}

function go(args: readonly string[], { sources, env, signal, onOut, onError }: GoRun): Promise<void> {
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, { cwd: sources, env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: child.stdout }).on('line', (line) => onOut?.(line));
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line);
      if (said.length > 20) said.shift();
      onError?.(line);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`go ${args[0]} failed; what it said last:\n${said.join('\n')}`));
    });
  });
}
