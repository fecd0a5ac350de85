// Room on the disk that is set aside so that addresses can be released when the disk is full: a file that is removed then. Until
// it is back, nothing else is written, because that would use up the room.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Writes that use room on the disk. They throw the errors of Node.js. */
export interface Disk {
  /** Returns how many bytes were written. */
  append(file: number, bytes: Buffer): number;
  /** Replaces a file. */
  write(path: string, bytes: Buffer): void;
}

export const disk: Disk = {
  append: (file, bytes) => writeSync(file, bytes),
  write: (path, bytes) => writeFileSync(path, bytes, { mode: 0o600 }),
};

/** Releases of some thousand attachments, in bytes. */
const size = 2 ** 20;
/** The size of the file whose write shows whether there is room, in bytes. A line of the record is shorter. */
const probeSize = 4096;

const fileName = 'reserve';

export class Reserve {
  readonly #path: string;
  readonly #probe: string;
  readonly #disk: Disk;
  #isThere = false;

  constructor(directory: string, to: Disk) {
    this.#path = join(directory, fileName);
    this.#probe = join(directory, 'probe');
    this.#disk = to;
  }

  /** Sets the room aside if it is not; returns what prevents it. */
  keep(): Error | undefined {
    this.#isThere ||= statSync(this.#path, { throwIfNoEntry: false })?.size === size;
    // A disk that compresses would set no room aside for zeros.
    const problem = this.#isThere ? undefined : this.#write(this.#path, randomBytes(size));
    this.#isThere = problem === undefined;
    return problem;
  }

  /** The error that prevents all writes but releases; undefined if there is room. */
  full(): Error | undefined {
    const problem = this.keep() ?? this.#write(this.#probe, Buffer.alloc(probeSize));
    remove(this.#probe);
    return problem;
  }

  /** Returns whether there is more room now. */
  free(): boolean {
    const wasThere = this.#isThere;
    this.#isThere = false;
    return remove(this.#path) && wasThere;
  }

  /** A part of it would take the room that releases need. */
  #write(path: string, bytes: Buffer): Error | undefined {
    try {
      this.#disk.write(path, bytes);
      return undefined;
    } catch (error) {
      remove(path);
      return error as Error;
    }
  }
}

/** Frees what is set aside below a state directory that no agent uses; returns whether there was anything. */
export function freeReserves(stateDirectory: string): boolean {
  const all = readdirSync(stateDirectory).map((name) => join(stateDirectory, name, fileName));
  return all.filter((path) => existsSync(path) && remove(path)).length > 0;
}

/** Returns whether it is gone. */
function remove(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether more room would help. */
export function isFull(error: NodeJS.ErrnoException | undefined): boolean {
  return error?.code === 'ENOSPC' || error?.code === 'EDQUOT';
}

/** The error of a write that was cut short. */
export function fullError(): Error {
  return Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
}
