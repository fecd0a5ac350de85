// Room on the disk that is set aside so that addresses can be released when the disk is full: a file that is removed then. Until
// it is back, nothing else is written, because that would use up the room.
import { rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What takes room. Throws what Node.js throws. */
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
/** Of a file that shows whether there is room, in bytes: a line of the record is shorter. */
const probeSize = 4096;

export class Reserve {
  readonly #path: string;
  readonly #probe: string;
  readonly #disk: Disk;
  #isThere = false;

  constructor(directory: string, to: Disk) {
    this.#path = join(directory, 'reserve');
    this.#probe = join(directory, 'probe');
    this.#disk = to;
  }

  /** Sets the room aside if it is not; returns what prevents it. */
  keep(): Error | undefined {
    this.#isThere ||= statSync(this.#path, { throwIfNoEntry: false })?.size === size;
    const problem = this.#isThere ? undefined : this.#write(this.#path, size);
    this.#isThere = problem === undefined;
    return problem;
  }

  /** What prevents that anything but a release is written. */
  full(): Error | undefined {
    const problem = this.keep() ?? this.#write(this.#probe, probeSize);
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
  #write(path: string, bytes: number): Error | undefined {
    try {
      this.#disk.write(path, Buffer.alloc(bytes));
      return undefined;
    } catch (error) {
      remove(path);
      return error as Error;
    }
  }
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

/** Of a write that was cut short. */
export function fullError(): Error {
  return Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
}
