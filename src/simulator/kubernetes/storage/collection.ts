// The objects of one resource: current state, recent history and listeners. It orders and stores; callers
// decide what may be written.
import { deepFreeze } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { Change, ChangeKind } from './change.ts';
import { ChangeFeed, type ChangeListener } from './change-feed.ts';
import { ChangeHistory } from './change-history.ts';
import { SortedMap } from './sorted-map.ts';

export interface StoredObject {
  readonly key: string;
  readonly object: KubernetesObject;
}

export interface CollectionOptions {
  readonly historyLimit: number;
  /** Changes up to this revision are dropped from the start. */
  readonly floor: number;
  /** Takes the next revision of the whole store. */
  readonly nextRevision: () => number;
  /** Called on every change, before the collection's listeners. */
  readonly onChange: (change: Change) => void;
}

export class Collection {
  readonly #objects = new SortedMap<KubernetesObject>();
  readonly #feed = new ChangeFeed();
  readonly #history: ChangeHistory;
  readonly #nextRevision: () => number;
  readonly #onChange: (change: Change) => void;

  constructor(options: CollectionOptions) {
    this.#history = new ChangeHistory(options.historyLimit, options.floor);
    this.#nextRevision = options.nextRevision;
    this.#onChange = options.onChange;
  }

  get historyFloor(): number {
    return this.#history.floor;
  }

  /** Stored objects are frozen, so they can be shared. */
  get(key: string): KubernetesObject | undefined {
    return this.#objects.get(key);
  }

  /** Adds or replaces; returns the object with its new resource version. */
  put(key: string, object: KubernetesObject): KubernetesObject {
    const previous = this.#objects.get(key);
    const change = this.#record(previous === undefined ? 'ADDED' : 'MODIFIED', key, object, previous);
    this.#objects.set(key, change.object);
    this.#publish(change);
    return change.object;
  }

  /** Removes an existing object; returns its last state with the resource version of the removal. */
  remove(key: string): KubernetesObject | undefined {
    const previous = this.#objects.get(key);
    if (previous === undefined) return undefined;
    const change = this.#record('DELETED', key, previous, previous);
    this.#objects.delete(key);
    this.#publish(change);
    return change.object;
  }

  /** All objects, ordered by key. */
  *all(): Generator<StoredObject> {
    for (const [key, object] of this.#objects) yield { key, object };
  }

  /** All objects as of a revision, ordered by key; undefined if it was dropped. */
  allAt(revision: number): Iterable<StoredObject> | undefined {
    const undone = this.#history.undoneTo(revision);
    if (undone === undefined) return undefined;
    return undone.size === 0 ? this.all() : this.#allWith(undone);
  }

  changesAfter(revision: number): readonly Change[] | undefined {
    return this.#history.after(revision);
  }

  /** Calls `listener` with every change from now on, of one key or of all, until the returned function is called. */
  follow(key: string | undefined, listener: ChangeListener): () => void {
    return this.#feed.follow(key, listener);
  }

  forgetHistoryUntil(revision: number): void {
    this.#history.forgetUntil(revision);
  }

  *#allWith(undone: ReadonlyMap<string, KubernetesObject | undefined>): Generator<StoredObject> {
    const objects = new SortedMap<KubernetesObject | undefined>();
    for (const [key, object] of [...this.#objects, ...undone]) objects.set(key, object);
    for (const [key, object] of objects) if (object !== undefined) yield { key, object };
  }

  #publish(change: Change): void {
    this.#onChange(change);
    this.#feed.publish(change);
  }

  #record(
    kind: ChangeKind,
    key: string,
    object: KubernetesObject,
    previous: KubernetesObject | undefined,
  ): Change {
    const revision = this.#nextRevision();
    const metadata = { ...object.metadata, resourceVersion: String(revision) };
    const change: Change = { kind, key, revision, previous, object: deepFreeze({ ...object, metadata }) };
    this.#history.add(change);
    return change;
  }
}
