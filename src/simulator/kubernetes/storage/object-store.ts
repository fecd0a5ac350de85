// All collections with one counter: each committed write gets the next resource version, as in etcd.
import type { Change } from './change.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { Collection } from './collection.ts';

/** Called on every change of every collection. */
export type StoreListener = (collection: string, change: Change) => void;

export class ObjectStore {
  readonly #historyLimit: number;
  readonly #collections = new Map<string, Collection>();
  readonly #listeners: StoreListener[] = [];
  #revision = 0;
  #floor = 0;

  /** Each collection keeps at least its last `historyLimit` changes. */
  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  /** The resource version of the latest write. */
  get revision(): number {
    return this.#revision;
  }

  /** Listeners may only record: the collection's listeners do not know the change yet. */
  listen(listener: StoreListener): void {
    this.#listeners.push(listener);
  }

  collection(name: string): Collection {
    const existing = this.#collections.get(name);
    if (existing !== undefined) return existing;
    const created = new Collection({
      historyLimit: this.#historyLimit,
      floor: this.#floor,
      nextRevision: () => ++this.#revision,
      onChange: (change) => {
        for (const listener of this.#listeners) listener(name, change);
      },
    });
    this.#collections.set(name, created);
    return created;
  }

  /** Keeps what there is now. The returned function brings it back, in new versions, and removes everything else. */
  backUp(): () => void {
    const kept = new Map([...this.#collections].map(([name, each]) => [name, contentOf(each)] as const));
    return () => {
      for (const [name, collection] of this.#collections) {
        const then = kept.get(name) ?? new Map<string, KubernetesObject>();
        for (const key of contentOf(collection).keys()) if (!then.has(key)) collection.remove(key);
        for (const [key, object] of then) if (collection.get(key) !== object) collection.put(key, object);
      }
    };
  }

  /** From now on no version before the current one can be read or watched. */
  forgetHistory(): void {
    this.#floor = this.#revision;
    for (const collection of this.#collections.values()) collection.forgetHistoryUntil(this.#floor);
  }
}

function contentOf(collection: Collection): ReadonlyMap<string, KubernetesObject> {
  return new Map([...collection.all()].map(({ key, object }) => [key, object]));
}
