// A controller of the demonstration: the very program that runs in production, as a process of its own, given nothing but
// flags and credentials.
import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

export interface ControllerOptions {
  readonly flags: readonly string[];
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Told of each line of its log. */
  readonly onLine: (line: LogLine) => void;
}

/** A line of the controller's log. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface ControllerEnd {
  readonly code: number | undefined;
  /** Of these two the one that ended it is there; neither when it could not be started. */
  readonly signal: string | undefined;
  /** The last that it wrote to its standard error. */
  readonly complaint: string;
}

/** Who ended it and how, to stand alone. */
export function endInWords({ code, signal, complaint }: ControllerEnd): string {
  const said = complaint === '' ? '' : `: ${complaint}`;
  if (signal !== undefined) return `the controller was ended by ${signal}${said}`;
  if (code === undefined) return `the controller could not be started${said}`;
  return `the controller ended by itself, with exit code ${code}${said}`;
}

export class ControllerProcess {
  /** Resolves once the process has ended. */
  readonly ended: Promise<ControllerEnd>;
  readonly #child: ChildProcess;
  #address: string | undefined;

  constructor(options: ControllerOptions) {
    this.#child = spawn(program(), ['run', ...options.flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        AWS_ACCESS_KEY_ID: options.accessKeyId,
        AWS_SECRET_ACCESS_KEY: options.secretAccessKey,
      },
    });
    this.ended = this.#follow(options.onLine);
    const kill = (): void => this.kill();
    process.once('exit', kill); // whatever ends the demonstration, a bug of its own too
    void this.ended.then(() => process.off('exit', kill));
  }

  /** Where it serves health, metrics and status, once it does: `127.0.0.1:9966`. */
  get address(): string | undefined {
    return this.#address;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Tells it to end, and resolves once it has. */
  stop(): Promise<ControllerEnd> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }

  /** Ends it without a word, if it has not ended. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #follow(onLine: (line: LogLine) => void): Promise<ControllerEnd> {
    const { stdout, stderr } = this.#child;
    let complaint = '';
    stderr?.on('data', (piece: Buffer) => {
      complaint = (complaint + piece.toString()).slice(-2000);
    });
    if (stdout !== null) {
      createInterface({ input: stdout }).on('line', (text) => {
        const line = readLine(text);
        if (line.message === 'serving health, metrics and status') {
          this.#address = `${String(line.details['host'])}:${String(line.details['port'])}`;
        }
        onLine(line);
      });
    }
    return new Promise((resolve) => {
      this.#child.once('error', (error) =>
        resolve({ code: undefined, signal: undefined, complaint: error.message }),
      );
      this.#child.once('close', (code, signal) => {
        resolve({ code: code ?? undefined, signal: signal ?? undefined, complaint: complaint.trim() });
      });
    });
  }
}

/** bin/headwater beside the bundle or the sources that this process runs. */
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
