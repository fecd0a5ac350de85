// A process that a benchmark or a test starts: its output is kept for the case that it fails, and it never outlives who
// started it.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const root = join(import.meta.dirname, '..');

export interface ChildOptions {
  /** What it is called where it fails. */
  readonly name: string;
  /** bin/headwater if not given. */
  readonly command?: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The kernel ends it when who started it is gone, however that came about. Otherwise it ends with this process as long as
   * that can still tell it to.
   */
  readonly bound?: boolean;
}

/** A process of ours ended although nothing stopped it. */
export class ChildFailed extends Error {
  override readonly name = 'ChildFailed';
}

/** Lines of its output that are kept. */
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
      // Of its own group: Ctrl-C reaches who started it, who ends the others in order.
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

  /** Resolves with how it ended, once it has. */
  get ended(): Promise<string> {
    return this.#ended;
  }

  /** Rejects with a ChildFailed as soon as the process ends on its own; never resolves. */
  async failure(): Promise<never> {
    const how = await this.#ended;
    if (this.#isEnding) return new Promise(() => undefined);
    throw new ChildFailed(`${this.#name} ${how}; its last lines:\n${this.lastWords}`);
  }

  get lastWords(): string {
    return this.#lines.map((line) => `  ${line}`).join('\n');
  }

  /** What `find` makes of the first line that it makes something of, from the start on. */
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

  /** Tells `listen` every line from now on, until the result is called. */
  onEachLine(listen: (line: string) => void): () => void {
    this.#listeners.add(listen);
    return () => void this.#listeners.delete(listen);
  }

  /** Asks it to end; resolves once it has. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    this.#child.kill('SIGTERM');
    await this.#ended;
  }

  /** Ends it without a word. */
  async kill(): Promise<void> {
    this.#isEnding = true;
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** It stands still, as if its machine did, until `goOn`. */
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
