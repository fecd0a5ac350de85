// The last known state of every object of one kind. It never goes back to an older state of an object, whichever of a
// watch, a list and the answers to our own writes arrives first.
import { ageOf } from './resource-version.ts';

/** One object as it was read. */
export interface Read<T> {
  readonly key: string;
  readonly resourceVersion: string;
  readonly object: T;
}

export type Change<T> =
  | { readonly type: 'added'; readonly key: string; readonly object: T; readonly previous: undefined }
  | { readonly type: 'modified'; readonly key: string; readonly object: T; readonly previous: T }
  /** `object` is the last state, as far as it is known. */
  | { readonly type: 'deleted'; readonly key: string; readonly object: T; readonly previous: T };

export class ObjectStore<T> {
  readonly #objects = new Map<string, T>();
  readonly #versions = new Map<string, string>();
  /** Keys whose state came from one of our own writes since `beginListing`. */
  readonly #writtenWhileListing = new Set<string>();
  #listing = false;

  get objects(): ReadonlyMap<string, T> {
    return this.#objects;
  }

  /** Takes what a watch said of an object that exists. */
  apply(read: Read<T>): Change<T> | undefined {
    return this.isKnown(read.key, read.resourceVersion) ? undefined : this.#put(read);
  }

  /** Whether this state of an object, or a later one, is known already. */
  isKnown(key: string, resourceVersion: string): boolean {
    const known = this.#versions.get(key);
    const age = known === undefined ? 'newer' : ageOf(resourceVersion, known);
    return age === 'older' || age === 'same';
  }

  /**
   * Takes the answer to one of our own writes, if it is newer. An object that is not in the store stays out of it: it
   * may have been deleted since, and when it was not, the watch brings it.
   */
  observe(read: Read<T>): Change<T> | undefined {
    if (!this.#versions.has(read.key)) return undefined;
    const change = this.apply(read);
    if (change !== undefined && this.#listing) this.#writtenWhileListing.add(read.key);
    return change;
  }

  /** Takes what a watch said of an object that was deleted; its last state, where it can be read, is `object`. */
  remove(key: string, resourceVersion: string, object: T | undefined): Change<T> | undefined {
    const known = this.#versions.get(key);
    if (known === undefined || ageOf(resourceVersion, known) === 'older') return undefined;
    return this.#drop(key, object);
  }

  /** To be called before the first request of a list is sent; `settle` and `vanished` refer to it. */
  beginListing(): void {
    this.#listing = true;
    this.#writtenWhileListing.clear();
  }

  endListing(): void {
    this.#listing = false;
    this.#writtenWhileListing.clear();
  }

  /**
   * Takes one object of a complete list. The list counts, even where the store holds a higher resource version (a cluster
   * restored from a backup goes back), except over the answer to a write made while the list was being read.
   */
  settle(read: Read<T>): Change<T> | undefined {
    const known = this.#versions.get(read.key);
    if (known === read.resourceVersion) return undefined;
    if (known !== undefined && this.#outlives(read.key, known, read.resourceVersion)) return undefined;
    return this.#put(read);
  }

  /** What is known of an object, as it was read. */
  known(key: string): Read<T> | undefined {
    const resourceVersion = this.#versions.get(key);
    const object = this.#objects.get(key);
    return resourceVersion === undefined || object === undefined
      ? undefined
      : { key, resourceVersion, object };
  }

  /** Keys that a complete list of the state at `resourceVersion` no longer has. */
  vanished(listed: ReadonlyMap<string, unknown>, resourceVersion: string): readonly string[] {
    return [...this.#versions]
      .filter(([key, version]) => !listed.has(key) && !this.#outlives(key, version, resourceVersion))
      .map(([key]) => key);
  }

  /** Forgets an object that a list no longer had. */
  forget(key: string): Change<T> | undefined {
    return this.#drop(key, undefined);
  }

  #outlives(key: string, version: string, listedVersion: string): boolean {
    return this.#writtenWhileListing.has(key) && ageOf(listedVersion, version) === 'older';
  }

  #put({ key, resourceVersion, object }: Read<T>): Change<T> {
    const previous = this.#objects.get(key);
    const existed = this.#versions.has(key);
    this.#objects.set(key, object);
    this.#versions.set(key, resourceVersion);
    if (!existed || previous === undefined) return { type: 'added', key, object, previous: undefined };
    return { type: 'modified', key, object, previous };
  }

  #drop(key: string, last: T | undefined): Change<T> | undefined {
    const previous = this.#objects.get(key);
    this.#objects.delete(key);
    this.#versions.delete(key);
    if (previous === undefined) return undefined;
    return { type: 'deleted', key, object: last ?? previous, previous };
  }
}
