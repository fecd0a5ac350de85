// Keeps a copy of all objects of one kind up to date: a list, then watches without end. It never gives up and never
// lets a failure out: whatever goes wrong is told through `onState` or `onBug`, and tried again.
//
// It keeps to the contract that client-go's reflector has made the custom: bookmarks, server-side time-outs drawn at
// random, resuming from the last resource version, a new list after 410.
import { type Clock, sleep } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import { type JsonObject, textAt } from './json.ts';
import { LinkedAbort } from './linked-abort.ts';
import { listAll, type Listing } from './listing.ts';
import { type Change, ObjectStore, type Read } from './object-store.ts';
import type { KubernetesTransport } from './transport.ts';
import { type Course, fairCourse, nextAfter } from './watch-policy.ts';
import { watchOnce, type WatchEnd, type WatchEvent } from './watch-stream.ts';

export interface ReflectorOptions<T> {
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
  readonly random: Random;
  /** Of the collection, without a query: `/apis/cilium.io/v2/ciliumnodes`. */
  readonly path: string;
  readonly fieldSelector?: string;
  /** What is kept of an object; nothing else of it stays in memory. */
  readonly transform: (raw: JsonObject) => T;
  /** Absent: the name, after the namespace and a slash where there is one. */
  readonly keyOf?: (raw: JsonObject) => string | undefined;
  /** Most objects a page of a list; 500 when absent. */
  readonly pageSize?: number;
  /** Told of each change, after the store has it. What it throws reaches `onBug`. */
  readonly onChange: (change: Change<T>) => void;
  /** Told of each state that differs from the one before. */
  readonly onState?: (state: ReflectorState) => void;
  readonly onBug: (error: unknown) => void;
}

export type ReflectorState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'listing' }
  | { readonly kind: 'watching' }
  /** Something passing is wrong; the next try is at `until`, in monotonic ms. */
  | {
      readonly kind: 'backing-off';
      readonly problem: string;
      readonly failures: number;
      readonly until: number;
    }
  /** We may not read these objects, or the cluster has no such kind: somebody must act. Tried again all the same. */
  | { readonly kind: 'denied'; readonly problem: string; readonly until: number }
  | { readonly kind: 'stopped' };

export interface ReflectorFigures {
  readonly state: ReflectorState;
  readonly objects: number;
  /** Complete lists beyond the first that nobody asked for. */
  readonly relists: number;
  /** Watches beyond the first and those that followed a list that was asked for. */
  readonly watchRestarts: number;
  /** Received over watches, without bookmarks. */
  readonly events: number;
  /** When something last came from the server, in monotonic ms. */
  readonly lastActivity: number | undefined;
}

/** So many objects of a list are told of before others get a turn. */
const batch = 20;

/** Bounds of the time after which the server ends a watch, in seconds. */
const watchSeconds = { least: 300, span: 300 };

export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #store = new ObjectStore<T>();
  readonly #synced = Promise.withResolvers<void>();
  #state: ReflectorState = { kind: 'idle' };
  #course: Course = fairCourse;
  /** Where to watch on from; undefined when a list is due. */
  #resourceVersion: string | undefined;
  #lists = 0;
  /** Lists that were asked for. */
  #refreshes = 0;
  /** The next watch follows such a list, in place of one that was open until then. */
  #isRefreshed = false;
  #watches = 0;
  #events = 0;
  #lastActivity: number | undefined;
  /** What goes on now: a list, a watch, or the wait for the next try. */
  #round: LinkedAbort | undefined;
  /** Those who wait for a list that begins from now on. */
  #waiting: readonly (() => void)[] = [];

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
  }

  /** What is kept of every object, by key. Changes in place. */
  get objects(): ReadonlyMap<string, T> {
    return this.#store.objects;
  }

  /** Resolves once the first list is complete and all of it was told to `onChange`; never rejects. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get isSynced(): boolean {
    return this.#lists > 0;
  }

  /** Whatever was written until this resource version is known; undefined while that cannot be said. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  figures(): ReflectorFigures {
    return {
      state: this.#state,
      objects: this.#store.objects.size,
      relists: Math.max(0, this.#lists - this.#refreshes - 1),
      watchRestarts: Math.max(0, this.#watches - 1),
      events: this.#events,
      lastActivity: this.#lastActivity,
    };
  }

  /**
   * Lists everything anew, in place of whatever goes on. Resolves once all that was written before this call is known, however
   * late the watch is; never rejects, and never resolves once `run` has ended.
   */
  refresh(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting = [...this.#waiting, resolve];
    this.#round?.abort();
    return promise;
  }

  /** Takes the answer to one of our own writes, if it is newer than what is known of an object that is in the store. */
  observe(raw: JsonObject): void {
    if (this.#isKnown(raw, textAt(raw, 'metadata', 'resourceVersion') ?? '')) return;
    const read = this.#read(raw);
    if (read !== undefined) this.#tell(this.#store.observe(read));
  }

  /** Runs until `signal` is aborted; resolves then. To be called once. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const round = new LinkedAbort(signal);
      this.#round = round;
      try {
        await this.#play(round.signal);
      } catch (error) {
        if (!round.signal.aborted) throw error;
      } finally {
        round.release();
      }
    }
    this.#enter({ kind: 'stopped' });
  }

  async #play(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const what = this.#resourceVersion === undefined || this.#waiting.length > 0 ? 'list' : 'watch';
    const start = clock.monotonic();
    const eventsBefore = this.#events;
    const end = await this.#attempt(what, signal);
    if (end === 'listed') return;

    const now = clock.monotonic();
    const attempt = { what, end, duration: now - start, progressed: this.#events > eventsBefore } as const;
    const next = nextAfter(this.#course, attempt, now, random);
    this.#course = next.course;
    if (next.begin === 'list') this.#resourceVersion = undefined;
    if (end.kind !== 'ended' || next.wait > 0) this.#enter(this.#pause(end, now + next.wait));
    if (next.wait > 0) await sleep(clock, next.wait, signal);
  }

  /** An error that nothing foresaw is a bug: reported, then treated as a failure of the attempt. */
  async #attempt(what: 'list' | 'watch', signal: AbortSignal): Promise<WatchEnd | 'listed'> {
    try {
      return what === 'list' ? await this.#list(signal) : await this.#watch(signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#options.onBug(error);
      return { kind: 'unavailable', message: `the ${what} failed for a bug: ${String(error)}` };
    }
  }

  async #list(signal: AbortSignal): Promise<WatchEnd | 'listed'> {
    this.#enter({ kind: 'listing' });
    this.#store.beginListing();
    const { transport, clock, path, fieldSelector, pageSize = 500 } = this.#options;
    const waiting = this.#waiting;
    const read = (raw: JsonObject): Read<T> | undefined => this.#unchanged(raw) ?? this.#read(raw);
    const listing = await listAll({ transport, clock, path, fieldSelector, pageSize, read }, signal);
    if (listing.kind !== 'listed') return listing;
    this.#lastActivity = clock.monotonic();
    await this.#replace(listing, signal);
    this.#store.endListing();
    this.#resourceVersion = listing.resourceVersion;
    this.#lists++;
    this.#synced.resolve();
    this.#waiting = this.#waiting.filter((resolve) => !waiting.includes(resolve));
    if (waiting.length > 0) {
      this.#refreshes++;
      this.#isRefreshed = this.#watches > 0;
    }
    for (const resolve of waiting) resolve();
    return 'listed';
  }

  async #replace(listing: Listing<T> & { kind: 'listed' }, signal: AbortSignal): Promise<void> {
    const vanished = this.#store.vanished(listing.objects, listing.resourceVersion);
    for (const key of vanished) this.#tell(this.#store.forget(key));
    let told = 0;
    for (const read of listing.objects.values()) {
      this.#tell(this.#store.settle(read));
      if (++told % batch === 0) await sleep(this.#options.clock, 0, signal);
    }
  }

  #watch(signal: AbortSignal): Promise<WatchEnd> {
    const { transport, clock, random, path, fieldSelector } = this.#options;
    return watchOnce(
      {
        transport,
        clock,
        path,
        fieldSelector,
        resourceVersion: this.#resourceVersion ?? '',
        timeoutSeconds: watchSeconds.least + random.integer(watchSeconds.span + 1),
        onOpen: () => {
          if (this.#isRefreshed) this.#isRefreshed = false;
          else this.#watches++;
          this.#lastActivity = clock.monotonic();
          this.#enter({ kind: 'watching' });
        },
        onEvent: (event) => this.#take(event),
      },
      signal,
    );
  }

  #take({ type, object, resourceVersion }: WatchEvent): void {
    this.#lastActivity = this.#options.clock.monotonic();
    this.#resourceVersion = resourceVersion;
    if (type === 'BOOKMARK') return;
    this.#events++;
    // What we wrote ourselves comes back over the watch: the answer told it already.
    if (type !== 'DELETED' && this.#isKnown(object, resourceVersion)) return;
    const read = this.#read(object);
    if (read === undefined) return;
    if (type === 'DELETED') this.#tell(this.#store.remove(read.key, resourceVersion, read.object));
    else this.#tell(this.#store.apply(read));
  }

  /** What is known of an object that is in just this state. */
  #unchanged(raw: JsonObject): Read<T> | undefined {
    const { keyOf = nameOf } = this.#options;
    const known = this.#store.known(keyOf(raw) ?? '');
    return known?.resourceVersion === textAt(raw, 'metadata', 'resourceVersion') ? known : undefined;
  }

  #isKnown(raw: JsonObject, resourceVersion: string): boolean {
    const { keyOf = nameOf } = this.#options;
    const key = keyOf(raw);
    return key !== undefined && this.#store.isKnown(key, resourceVersion);
  }

  /** What is kept of an object. Where that cannot be found out, which is a bug, things stay as they are known. */
  #read(raw: JsonObject): Read<T> | undefined {
    const { transform, keyOf = nameOf, onBug, path } = this.#options;
    const key = keyOf(raw);
    const resourceVersion = textAt(raw, 'metadata', 'resourceVersion');
    if (key === undefined || resourceVersion === undefined) {
      onBug(new Error(`an object of ${path} has no name or no resource version`));
      return undefined;
    }
    try {
      return { key, resourceVersion, object: transform(raw) };
    } catch (error) {
      onBug(error);
      return this.#store.known(key);
    }
  }

  #tell(change: Change<T> | undefined): void {
    if (change === undefined) return;
    try {
      this.#options.onChange(change);
    } catch (error) {
      this.#options.onBug(error);
    }
  }

  #pause(end: WatchEnd, until: number): ReflectorState {
    const problem = end.kind === 'ended' ? 'the server ends watches as soon as they have begun' : end.message;
    if (end.kind === 'denied' || end.kind === 'gone') return { kind: 'denied', problem, until };
    return { kind: 'backing-off', problem, failures: this.#course.backoff?.failures ?? 0, until };
  }

  #enter(state: ReflectorState): void {
    if (state.kind === this.#state.kind && !('until' in state)) return;
    this.#state = state;
    try {
      this.#options.onState?.(state);
    } catch (error) {
      this.#options.onBug(error);
    }
  }
}

function nameOf(raw: JsonObject): string | undefined {
  const name = textAt(raw, 'metadata', 'name');
  const namespace = textAt(raw, 'metadata', 'namespace');
  return name === undefined || namespace === undefined ? name : `${namespace}/${name}`;
}
