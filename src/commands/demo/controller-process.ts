// Runs controllers of the demonstration: the production program in its own process, which gets only flags and credentials.
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, rmSync, type WriteStream } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { exitCode } from '../exit-code.ts';

export interface ControllerOptions {
  /** Default: run. */
  readonly command?: 'nodeipam' | 'run';
  readonly flags: readonly string[];
  /** Credentials of the cloud, and what else the process needs beside its flags. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly onLine: (line: LogLine) => void;
  /** Called with its raw output. */
  readonly onText?: (text: string) => void;
}

/** One log line of the controller. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface ControllerEnd {
  readonly code: number | undefined;
  /** Either `code` or `signal` is set, or neither when the process could not start. */
  readonly signal: string | undefined;
  /** Its last output on standard error. */
  readonly complaint: string;
  /** Why it lost its Lease, if it did: the Lease of a demonstration lasts a few seconds, so its machine was too slow. */
  readonly lostLease: string | undefined;
}

/** The end of the process and its cause, as a sentence. */
export function endInWords({ code, signal, complaint, lostLease }: ControllerEnd): string {
  if (lostLease !== undefined)
    return `this machine is too slow: the controller could not renew its Lease of a few seconds in time: ${lostLease}`;
  const said = complaint === '' ? '' : `: ${complaint}`;
  if (signal !== undefined) return `the controller was ended by ${signal}${said}`;
  if (code === undefined) return `the controller could not be started${said}`;
  return `the controller exited with code ${code}${said}`;
}

export class ControllerProcess {
  /** Resolves once the process ends. */
  readonly ended: Promise<ControllerEnd>;
  readonly #child: ChildProcess;
  #address: string | undefined;

  constructor(options: ControllerOptions) {
    const { HEADWATER_NODE: node } = process.env;
    this.#child = spawn(program(), [options.command ?? 'run', ...options.flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        ...(node !== undefined && { HEADWATER_NODE: node }),
        ...options.environment,
      },
    });
    this.ended = this.#follow(options);
    const kill = (): void => this.kill();
    process.once('exit', kill); // however the demonstration ends, bugs included
    void this.ended.then(() => process.off('exit', kill));
  }

  /** Where it serves health, metrics and status, once it does: `127.0.0.1:9966`. */
  get address(): string | undefined {
    return this.#address;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends SIGTERM and resolves once the process ends. */
  stop(): Promise<ControllerEnd> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }

  /** Sends SIGKILL. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #follow({
    onLine,
    onText = () => undefined,
  }: Pick<ControllerOptions, 'onLine' | 'onText'>): Promise<ControllerEnd> {
    const { stdout, stderr } = this.#child;
    let complaint = '';
    let lostLease: string | undefined;
    stderr?.on('data', (piece: Buffer) => {
      complaint = (complaint + piece.toString()).slice(-2000);
      onText(piece.toString());
    });
    if (stdout !== null) {
      createInterface({ input: stdout }).on('line', (text) => {
        onText(`${text}\n`);
        const line = readLine(text);
        if (line.message === 'serving health, metrics and status') {
          this.#address = `${String(line.details['host'])}:${String(line.details['port'])}`;
        }
        if (line.message === 'leader election lost, exiting') lostLease = String(line.details['why']);
        onLine(line);
      });
    }
    return new Promise((resolve) => {
      this.#child.once('error', (error) =>
        resolve({ code: undefined, signal: undefined, complaint: error.message, lostLease }),
      );
      this.#child.once('close', (code, signal) => {
        resolve({
          code: code ?? undefined,
          signal: signal ?? undefined,
          complaint: complaint.trim(),
          lostLease,
        });
      });
    });
  }
}

/** Holds the current controller of a demonstration. An unexpected exit ends the demonstration. */
export class ControllerHandle {
  readonly #options: ControllerOptions;
  readonly #dismissed = new Set<ControllerProcess>();
  #current: ControllerProcess;
  #ended: ControllerEnd | undefined;
  #onReplaced: ((pid: number | undefined) => void) | undefined;

  /** Starts the first controller. */
  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#current = this.#start();
  }

  /** How the controller ended unexpectedly; undefined while it runs. */
  get ended(): ControllerEnd | undefined {
    return this.#ended;
  }

  get pid(): number | undefined {
    return this.#current.pid;
  }

  /** Where it serves health, metrics and status, once it does. */
  get address(): string | undefined {
    return this.#current.address;
  }

  /** As typed in a shell; credentials come from the environment. */
  get command(): string {
    return ['bin/headwater', 'run', ...this.#options.flags].join(' ');
  }

  /** Kills the controller and starts another without any state of the first. */
  replace(): void {
    this.#dismissed.add(this.#current);
    this.#current.kill();
    this.#current = this.#start();
  }

  /** From now on a controller that SIGKILL ends is replaced; `report` receives the process ID of the new one. */
  replaceWhenKilled(report: (pid: number | undefined) => void): void {
    this.#onReplaced = report;
  }

  /** Stops the controller. Resolves to the reason of an unclean exit; undefined after a clean one. */
  async stop(): Promise<string | undefined> {
    this.#dismissed.add(this.#current);
    const end = await this.#current.stop();
    return end.code === 0 ? undefined : endInWords(end);
  }

  kill(): void {
    this.#dismissed.add(this.#current);
    this.#current.kill();
  }

  #start(): ControllerProcess {
    const { onLine, ...options } = this.#options;
    const started: ControllerProcess = new ControllerProcess({
      ...options,
      // Late output of a dead controller is no news.
      onLine: (line) => {
        if (!this.#dismissed.has(started)) onLine(line);
      },
    });
    void started.ended.then((end) => {
      if (this.#dismissed.has(started)) return;
      if (end.signal !== 'SIGKILL' || this.#onReplaced === undefined) {
        this.#ended = end;
        return;
      }
      this.#dismissed.add(started);
      this.#current = this.#start();
      this.#onReplaced(this.#current.pid);
    });
    return started;
  }
}

/** The output of controllers in one file on disk. It stays when the demonstration fails, and is removed otherwise. */
export class ControllerLog {
  readonly path: string;
  readonly #stream: WriteStream;

  private constructor(directory: string) {
    this.path = join(directory, 'controller.log');
    this.#stream = createWriteStream(this.path, { flags: 'a' });
    // A full disk must cost only the log, not the demonstration.
    this.#stream.on('error', () => undefined);
    process.once('exit', (code) => {
      if (code !== exitCode.failure && code !== exitCode.tooSlow)
        rmSync(directory, { recursive: true, force: true });
    });
  }

  /** In a directory of its own. */
  static async create(): Promise<ControllerLog> {
    return new ControllerLog(await mkdtemp(join(tmpdir(), 'headwater-demo-log-')));
  }

  write(text: string): void {
    this.#stream.write(text);
  }
}

/** bin/headwater next to the running bundle or sources. */
function program(): string {
  return join(dirname(process.argv[1] ?? ''), '..', 'bin', 'headwater');
}

function readLine(text: string): LogLine {
  try {
    const { level, msg, time: _, ...details } = JSON.parse(text) as Record<string, unknown>;
    return { level: String(level), message: String(msg), details };
  } catch {
    return { level: 'error', message: text, details: {} };
  }
}
