// What happened in a simulation, line by line with its virtual time: as a digest, which is the same for the same seed, and
// as text where somebody wants to read it.
import { createHash } from 'node:crypto';
import type { LogDetails, Logger } from '../../src/observability/logger.ts';

/** Characters that are digested at once. */
const portion = 1 << 16;

export class History {
  readonly isTraced: boolean;
  /** Empty unless traced. */
  readonly lines: string[] = [];
  readonly #now: () => number;
  readonly #digest = createHash('sha256');
  readonly #decisions = createHash('sha256');
  /** Empty unless traced. */
  readonly decided: string[] = [];
  #pending = '';

  constructor(now: () => number, isTraced: boolean) {
    this.#now = now;
    this.isTraced = isTraced;
  }

  write(text: string): void {
    const line = `${this.#now()} ${text}\n`;
    if (this.isTraced) this.lines.push(line);
    this.#pending += line;
    if (this.#pending.length < portion) return;
    this.#digest.update(this.#pending);
    this.#pending = '';
  }

  /** What a controller decided: the same for the same seed on every rig. */
  decide(text: string): void {
    this.#decisions.update(`${this.#now()} ${text}\n`);
    if (this.isTraced) this.decided.push(`${this.#now()} ${text}\n`);
  }

  /** Of the decisions; to be asked once, at the end. */
  decisionDigest(): string {
    return this.#decisions.digest('hex').slice(0, 16);
  }

  /** Into the text alone. */
  warning(text: string): void {
    if (this.isTraced) this.lines.push(`${this.#now()} ${text}\n`);
  }

  /** Of everything written; to be asked once, at the end. */
  digest(): string {
    return this.#digest.update(this.#pending).digest('hex').slice(0, 16);
  }

  /** Writes into the text alone, so that the digest is the same whether it is read or not. */
  logger(identity: string, bindings: LogDetails = {}): Logger {
    const at =
      (level: string) =>
      (message: string, details: LogDetails = {}): void => {
        this.warning(`${identity} ${level} ${message} ${JSON.stringify({ ...bindings, ...details })}`);
      };
    return {
      debug: () => undefined,
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (more) => this.logger(identity, { ...bindings, ...more }),
    };
  }
}
