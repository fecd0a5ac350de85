// Appends whole lines to a file that others may read, move away or delete at any time: it is opened anew for each line, so
// a rotation needs no signal. Each line is written before the call returns.
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants;
/** A pipe that nobody reads must not stop the process. */
const flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK;
/** The mode of a file whose lines may concern the account. */
const mode = 0o640;

export class LineFile {
  readonly #path: string;
  /** Whether the file may end within a line: its disk was full. */
  #isTorn: boolean;

  /** Throws what Node.js throws where the file cannot be written. */
  constructor(path: string) {
    this.#path = path;
    closeSync(openSync(path, flags, mode));
    this.#isTorn = !endsWithLine(path);
  }

  /** Throws what Node.js throws. */
  append(line: string): void {
    const file = openSync(this.#path, flags, mode);
    try {
      const bytes = Buffer.from(this.#isTorn ? `\n${line}\n` : `${line}\n`);
      let written = 0;
      while (written < bytes.length) {
        written += writeSync(file, bytes, written);
        this.#isTorn = written < bytes.length;
      }
    } finally {
      closeSync(file);
    }
  }
}

/** A file that cannot be read counts as whole. */
function endsWithLine(path: string): boolean {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | O_NONBLOCK);
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    return size === 0 || readSync(file, last, 0, 1, size - 1) === 0 || last.toString() === '\n';
  } catch {
    return true;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
