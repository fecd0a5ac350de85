// The history of a simulation, line by line in virtual time: as a digest that is the same for the same seed, and as
// text if traced.
import { createHash } from 'node:crypto';
import type { LogDetails, Logger } from '../../src/observability/logger.ts';

/** Characters digested at once. */
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
  /** A call of a process that ended with the run may be answered after it. */
  #hasEnded = false;

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

  /** Records a decision of a controller: the same for the same seed on either path to the cloud. */
  decide(text: string): void {
    if (this.#hasEnded) return;
    this.#decisions.update(`${this.#now()} ${text}\n`);
    if (this.isTraced) this.decided.push(`${this.#now()} ${text}\n`);
  }

  /** Digest of the decisions; call it once, at the end. */
  decisionDigest(): string {
    this.#hasEnded = true;
    return this.#decisions.digest('hex').slice(0, 16);
  }

  /** Adds to the text only. */
  warning(text: string): void {
    if (this.isTraced) this.lines.push(`${this.#now()} ${text}\n`);
  }

  /** Digest of everything written; call it once, at the end. */
  digest(): string {
    return this.#digest.update(this.#pending).digest('hex').slice(0, 16);
  }

  /** Writes to the text only, so that tracing does not change the digest. */
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
