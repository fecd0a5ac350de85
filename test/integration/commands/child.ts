// bin/headwater as a process of its own, as users start it. It records the output, and tests can wait for a line.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { undocumentedIn } from './documented-output.ts';

export const program = join(import.meta.dirname, '..', '..', '..', 'bin', 'headwater');

export interface Ended {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
  readonly out: string;
  readonly err: string;
}

export interface ProcessEnvironment {
  /** All variables besides PATH: nothing is inherited from the process that runs the tests. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly program?: string;
}

const running = new Set<Child>();

/**
 * For `afterEach`: kills the processes of a test, even if the test failed. A test that ran out of time prints what it waited
 * for.
 */
export async function endAll(): Promise<void> {
  for (const child of running) {
    for (const waiting of child.awaited) process.stderr.write(`${waiting}\n`);
    child.signal('SIGKILL');
  }
  await Promise.all([...running].map(({ ended }) => ended));
}

/** Runs the command to its end. What it prints as JSON must be as documented. */
export async function headwater(
  args: readonly string[],
  processEnvironment: ProcessEnvironment = {},
): Promise<Ended> {
  const ended = await new Child(args, processEnvironment).ended;
  const undocumented = args.includes('--output=json')
    ? undocumentedIn(String(args[0]), ended.out)
    : undefined;
  if (undocumented !== undefined) throw new Error(`${args[0]} --output=json: ${undocumented}`);
  return ended;
}

export class Child {
  readonly ended: Promise<Ended>;
  readonly #process: ChildProcess;
  /** Each with the pattern that it waits for. */
  readonly #watchers = new Map<() => void, RegExp>();
  #out = '';
  #err = '';
  #hasEnded = false;

  constructor(args: readonly string[], processEnvironment: ProcessEnvironment = {}) {
    const { environment, program: path = program } = processEnvironment;
    this.#process = spawn(path, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], AWS_EC2_METADATA_DISABLED: 'true', ...environment },
    });
    this.#process.stdout?.on('data', (piece: Buffer) => {
      this.#out += piece.toString();
      this.#notify();
    });
    this.#process.stderr?.on('data', (piece: Buffer) => {
      this.#err += piece.toString();
    });
    running.add(this);
    this.ended = new Promise((resolve, reject) => {
      this.#process.once('error', reject);
      this.#process.once('close', (code, signal) => {
        this.#hasEnded = true;
        running.delete(this);
        resolve({ code: code ?? undefined, signal: signal ?? undefined, out: this.#out, err: this.#err });
        this.#notify();
      });
    });
  }

  get pid(): number {
    return this.#process.pid ?? Number.NaN;
  }

  /** The first match in its standard output; rejects with the whole output if it ends without a match. */
  said(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(this.#out);
        if (match !== null) resolve(match);
        else if (this.#hasEnded) reject(new Error(this.#unsaid(pattern)));
        else return;
        this.#watchers.delete(look);
      };
      this.#watchers.set(look, pattern);
      look();
    });
  }

  /** The first group of the first match. */
  async word(pattern: RegExp): Promise<string> {
    return (await this.said(pattern))[1] ?? '';
  }

  /** A text for each pattern that somebody waits for. */
  get awaited(): readonly string[] {
    return [...this.#watchers.values()].map((pattern) => this.#unsaid(pattern));
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Sends a termination signal and waits until the process has ended. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.signal(signal);
    return this.ended;
  }

  /** Stops reading its output, as `| head` does. */
  hangUp(): void {
    this.#process.stdout?.destroy();
  }

  #notify(): void {
    for (const watcher of this.#watchers.keys()) watcher();
  }

  #unsaid({ source }: RegExp): string {
    return `never said ${source}: ${this.#out}${this.#err}`;
  }
}

/** Child processes of this process, as Linux lists them. */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

export function isAlive(pid: number): boolean {
  return parentOf(String(pid)) !== undefined;
}

/** Undefined if there is no such process, or only a zombie. */
function parentOf(pid: string): number | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    return undefined; // it ended while the list was read
  }
}

/** The lines of a text, without an empty last one. */
export function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** The reasons why it could not start, from the log lines on standard error. */
export function problemsOf({ err }: Pick<Ended, 'err'>): readonly string[] {
  return linesOf(err).map((line) => {
    const { level, msg, problem } = JSON.parse(line) as Readonly<Record<string, string | undefined>>;
    if (level !== 'error' || msg !== 'cannot start' || problem === undefined) throw new Error(line);
    return problem;
  });
}
