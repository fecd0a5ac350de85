// The record that survives a restart of the agent: a snapshot, and a journal of the changes since. A change is in the journal
// before it counts. Files are not flushed to the disk: what a power cut takes belongs to containers that it took as well, and
// the next boot has a directory of its own.
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Change, Holdings } from '../ipam/holdings.ts';
import {
  readStored,
  recordLine,
  type RecordOwner,
  snapshotText,
  type StoredRecord,
} from './stored-record.ts';
import { type Disk, disk, fullError, isFull, Reserve } from './reserve.ts';

export type OpenedRecord =
  | { readonly kind: 'open'; readonly record: AddressRecord; readonly holdings: Holdings }
  /** The record holds what this program cannot have written. */
  | { readonly kind: 'damaged'; readonly problem: string }
  /** The record is of pods of another node, or of another boot. */
  | { readonly kind: 'foreign'; readonly problem: string };

/** Journal lines before the first snapshot. */
const minLines = 2000;

export class AddressRecord {
  readonly #directory: string;
  readonly #owner: RecordOwner;
  readonly #holdings: Holdings;
  readonly #journal: number;
  readonly #disk: Disk;
  readonly #reserve: Reserve;
  /** Number of the last change. */
  #last: number;
  /** Bytes of the journal that count. */
  #length: number;
  #lines: number;
  /** A part of a line may follow them. */
  #isTorn = false;
  /** False until there is a snapshot of this version that says whose record it is. */
  #isCurrent: boolean;
  /** Lines after which the next snapshot is made. */
  #maxLines = minLines;

  /** Nothing was ever written into it. */
  readonly isNew: boolean;

  private constructor(parts: Parts, stored: StoredRecord) {
    const { directory, owner, holdings } = parts;
    this.isNew = stored.last === 0;
    this.#directory = directory;
    this.#owner = owner;
    this.#holdings = holdings;
    this.#disk = parts.disk;
    this.#reserve = new Reserve(directory, parts.disk);
    this.#last = stored.last;
    this.#length = stored.bytes;
    this.#lines = stored.lines;
    this.#isCurrent = stored.isCurrent;
    this.#journal = openSync(join(directory, 'journal'), 'a', 0o600);
    // A line without an end was never answered for.
    ftruncateSync(this.#journal, this.#length);
    if (!this.#isCurrent) this.snapshot();
    this.#reserve.keep(); // or when there is room
  }

  /** Opens the record of this owner in a directory that exists. Throws what Node.js throws. */
  static open(directory: string, owner: RecordOwner, to = disk): OpenedRecord {
    const holdings = new Holdings();
    const stored = readStored(directory, holdings);
    if (stored.kind === 'damaged') return stored;
    const problem = stored.owner && whyForeign(directory, stored.owner, owner);
    if (problem !== undefined) return { kind: 'foreign', problem };
    const record = new AddressRecord({ directory, owner, holdings, disk: to }, stored);
    return { kind: 'open', record, holdings };
  }

  /**
   * Writes a change; returns what prevents it. Then nothing of it is in the record. A full disk prevents all but releases, for
   * which there is a reserve.
   */
  write(change: Change): string | undefined {
    const isRelease = change.free !== undefined && change.hold === undefined;
    const problem = isRelease ? undefined : this.#reserve.keep();
    const failure = problem ?? this.#append(change);
    const hasRoomNow = isRelease && isFull(failure) && this.#reserve.free();
    return this.#refusal(hasRoomNow ? this.#append(change) : failure);
  }

  /** Why nothing but a release can be written. */
  full(): string | undefined {
    return this.#refusal(this.#reserve.full());
  }

  #refusal(problem: Error | undefined): string | undefined {
    const remedy = isFull(problem) ? `; make room on the disk of ${this.#directory}` : '';
    return problem && `cannot write ${join(this.#directory, 'journal')}: ${problem.message}${remedy}`;
  }

  #append(change: Change): Error | undefined {
    const line = Buffer.from(recordLine(this.#last + 1, JSON.stringify(change)));
    try {
      if (this.#isTorn) this.#cutBack();
      if (!this.#isCurrent) this.#replaceJournal();
      if (this.#lines >= this.#maxLines) this.snapshot();
      const written = this.#disk.append(this.#journal, line);
      if (written < line.byteLength) throw fullError();
    } catch (error) {
      this.#isTorn = true;
      return error as Error;
    }
    this.#last++;
    this.#length += line.byteLength;
    this.#lines++;
    return undefined;
  }

  /** Replaces the journal by a snapshot. The holdings must have every change of the journal. */
  snapshot(): void {
    // If it fails, the journal still says everything, and grows.
    this.#maxLines = this.#lines + minLines;
    try {
      this.#replaceJournal();
    } catch {
      return;
    }
    this.#maxLines = Math.max(minLines, 2 * this.#holdings.size);
  }

  /** The fault of its files on the disk; if they are gone, this writes all that is held into new ones, for the next agent. */
  lost(): string | undefined {
    const path = join(this.#directory, 'journal');
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined)
      return `${path} was removed: ${this.#rescue() ?? 'what is held is in a new one'}`;
    if (found.ino !== fstatSync(this.#journal).ino) return `${path} was replaced by another agent`;
    // A journal without a snapshot is damaged for the next agent.
    if (!existsSync(join(this.#directory, 'snapshot'))) this.snapshot();
    return undefined;
  }

  /** Returns what prevents it. */
  #rescue(): string | undefined {
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      this.#writeSnapshot();
      return undefined;
    } catch (error) {
      return `cannot write ${join(this.#directory, 'snapshot')}: ${(error as Error).message}`;
    }
  }

  close(): void {
    closeSync(this.#journal);
  }

  #replaceJournal(): void {
    this.#writeSnapshot();
    // Ending here, the journal has nothing that the snapshot lacks.
    ftruncateSync(this.#journal, 0);
    this.#length = 0;
    this.#lines = 0;
    this.#isCurrent = true;
  }

  #writeSnapshot(): void {
    const path = join(this.#directory, 'snapshot');
    try {
      this.#disk.write(`${path}.new`, Buffer.from(snapshotText(this.#owner, this.#last, this.#holdings)));
      renameSync(`${path}.new`, path);
    } catch (error) {
      rmSync(`${path}.new`, { force: true });
      throw error;
    }
  }

  /** Cuts back a part of a line: another line after it would be damage. */
  #cutBack(): void {
    ftruncateSync(this.#journal, this.#length);
    this.#isTorn = false;
  }
}

interface Parts {
  readonly directory: string;
  readonly owner: RecordOwner;
  readonly holdings: Holdings;
  readonly disk: Disk;
}

/** Undefined if it is not. */
function whyForeign(directory: string, found: RecordOwner, own: RecordOwner): string | undefined {
  const remedy = 'remove the pods of this node, then that directory';
  if (found.node !== own.node)
    return `${directory} is the record of the node ${found.node}, and this agent is for ${own.node}: set --node-name=${found.node}, or a --state-dir of its own; if the node was renamed, ${remedy}`;
  return found.boot === own.boot ? undefined : `${directory} is the record of another boot: ${remedy}`;
}
