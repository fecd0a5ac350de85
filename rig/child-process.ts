// A process that a benchmark or a test starts. It keeps the end of its output for error messages, and the process never
// outlives its parent.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const root = join(import.meta.dirname, '..');

export interface ChildOptions {
  /** Its name in error messages. */
  readonly name: string;
  /** Default: bin/headwater. */
  readonly command?: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The kernel ends it when its parent is gone, for whatever reason. Otherwise it ends only if this process can still signal
   * it.
   */
  readonly bound?: boolean;
}

/** A process of ours ended before we stopped it. */
export class ChildFailed extends Error {
  override readonly name = 'ChildFailed';
}

/** How many lines of its output are kept. */
const keptLines = 40;

export class RigChild {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #listeners = new Set<(line: string) => void>();
  readonly #ended: Promise<string>;
  #isEnding = false;

  constructor(options: ChildOptions) {
    const { name, command = join(root, 'bin/headwater'), args, env = {}, bound = false } = options;
    const bond = bound ? ['setpriv', '--pdeathsig', 'KILL', '--'] : [];
    const [program, ...words] = [...bond, command, ...args] as const;
    this.#name = name;
    this.#child = spawn(program ?? command, words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], ...env },
      // A group of its own: Ctrl-C reaches only the parent, which ends its children in order.
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.#addLine(line));
    }
    const kill = (): void => void this.#child.kill('SIGKILL');
    process.once('exit', kill);
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      this.#child.once('close', (code, signal) => resolve(`ended with ${signal ?? `exit code ${code}`}`));
    });
    void this.#ended.then(() => process.off('exit', kill));
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new ChildFailed(`${this.#name} could not be started`);
    return pid;
  }

  /** Resolves with its exit code or signal once it has ended. */
  get ended(): Promise<string> {
    return this.#ended;
  }

  /** Rejects with a ChildFailed when the process ends before we stop it; never resolves. */
  async failure(): Promise<never> {
    const how = await this.#ended;
    if (this.#isEnding) return new Promise(() => undefined);
    throw new ChildFailed(`${this.#name} ${how}; its last lines:\n${this.lastWords}`);
  }

  get lastWords(): string {
    return this.#lines.map((line) => `  ${line}`).join('\n');
  }

  /** The first result of `find` that is not undefined, over all lines from the start on. */
  async waitForLine<T>(find: (line: string) => T | undefined): Promise<T> {
    const found = new Promise<T>((resolve) => {
      const listen = (line: string): void => {
        const value = find(line);
        if (value === undefined) return;
        stop();
        resolve(value);
      };
      const stop = this.onEachLine(listen);
      for (const line of this.#lines) listen(line);
    });
    return Promise.race([found, this.failure()]);
  }

  /** Passes every line from now on to `listen`, until the returned function is called. */
  onEachLine(listen: (line: string) => void): () => void {
    this.#listeners.add(listen);
    return () => void this.#listeners.delete(listen);
  }

  /** Sends SIGTERM; resolves once it has ended. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    this.#child.kill('SIGTERM');
    await this.#ended;
  }

  /** Kills it. */
  async kill(): Promise<void> {
    this.#isEnding = true;
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Freezes the process, as if its machine stood still, until `goOn`. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child.kill('SIGCONT');
  }

  #addLine(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > keptLines) this.#lines.shift();
    for (const listen of this.#listeners) listen(line);
  }
}
