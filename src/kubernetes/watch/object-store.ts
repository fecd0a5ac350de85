// Stores the last known state of every object of one kind. It never returns to an older state, in whatever order watch
// events, lists and answers to our writes arrive.
import { ageOf } from './resource-version.ts';

/** An object as read. */
export interface Read<T> {
  readonly key: string;
  readonly resourceVersion: string;
  readonly object: T;
}

export type Change<T> =
  | { readonly type: 'added'; readonly key: string; readonly object: T; readonly previous: undefined }
  | { readonly type: 'modified'; readonly key: string; readonly object: T; readonly previous: T }
  /** `object` is the last known state. */
  | { readonly type: 'deleted'; readonly key: string; readonly object: T; readonly previous: T };

export class ObjectStore<T> {
  readonly #objects = new Map<string, T>();
  readonly #versions = new Map<string, string>();
  /** Keys updated by our own writes since `beginListing`. */
  readonly #writtenWhileListing = new Set<string>();
  #listing = false;

  get objects(): ReadonlyMap<string, T> {
    return this.#objects;
  }

  /** Applies a watch event of an existing object. */
  apply(read: Read<T>): Change<T> | undefined {
    return this.isKnown(read.key, read.resourceVersion) ? undefined : this.#put(read);
  }

  /** Whether this state of an object, or a newer one, is known. */
  isKnown(key: string, resourceVersion: string): boolean {
    const known = this.#versions.get(key);
    const age = known === undefined ? 'newer' : ageOf(resourceVersion, known);
    return age === 'older' || age === 'same';
  }

  /**
   * Applies the answer to one of our own writes if it is newer. It adds no object: a missing one may be deleted, and
   * the watch delivers it if it is not.
   */
  observe(read: Read<T>): Change<T> | undefined {
    if (!this.#versions.has(read.key)) return undefined;
    const change = this.apply(read);
    if (change !== undefined && this.#listing) this.#writtenWhileListing.add(read.key);
    return change;
  }

  /** Applies a watch's DELETED event; `object` is the last state if it is readable. */
  remove(key: string, resourceVersion: string, object: T | undefined): Change<T> | undefined {
    const known = this.#versions.get(key);
    if (known === undefined || ageOf(resourceVersion, known) === 'older') return undefined;
    return this.#drop(key, object);
  }

  /** Call it before the first request of a list; `settle` and `vanished` refer to this moment. */
  beginListing(): void {
    this.#listing = true;
    this.#writtenWhileListing.clear();
  }

  endListing(): void {
    this.#listing = false;
    this.#writtenWhileListing.clear();
  }

  /**
   * Applies one object of a complete list. The list wins even over a higher resource version: a cluster restored from a
   * backup goes back. Only the answer to a write made during the list wins over it.
   */
  settle(read: Read<T>): Change<T> | undefined {
    const known = this.#versions.get(read.key);
    if (known === read.resourceVersion) return undefined;
    if (known !== undefined && this.#outlives(read.key, known, read.resourceVersion)) return undefined;
    return this.#put(read);
  }

  /** The known state of an object, as read. */
  known(key: string): Read<T> | undefined {
    const resourceVersion = this.#versions.get(key);
    const object = this.#objects.get(key);
    return resourceVersion === undefined || object === undefined
      ? undefined
      : { key, resourceVersion, object };
  }

  /** Keys missing from a complete list at `resourceVersion`. */
  vanished(listed: ReadonlyMap<string, unknown>, resourceVersion: string): readonly string[] {
    return [...this.#versions]
      .filter(([key, version]) => !listed.has(key) && !this.#outlives(key, version, resourceVersion))
      .map(([key]) => key);
  }

  /** Removes an object that is missing from a list. */
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
