// Keeps a local copy of all objects of one kind: one list, then watches. It never gives up and never rejects: `onState`
// and `onBug` report every failure, and it retries.
//
// It behaves as client-go's reflector does: bookmarks, random server-side time-outs, resume from the last resource
// version, relist after 410. Its time-outs are short, because the end of a watch shows that its connection works.
import { sleep } from '../../runtime/clock.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';
import { LinkedAbort } from '../transport/linked-abort.ts';
import type { ClientPorts } from '../transport/transport.ts';
import { listAll, type Listing } from './listing.ts';
import { type Change, ObjectStore, type Read } from './object-store.ts';
import { type Course, fairCourse, nextAfter } from './watch-policy.ts';
import {
  type Collection,
  type Selection,
  watchOnce,
  type WatchEnd,
  type WatchEvent,
} from './watch-stream.ts';

/** The objects of a reflector. */
export interface Reflected<T> extends Selection {
  /** The part of an object to keep; the rest does not stay in memory. */
  readonly transform: (raw: JsonObject) => T;
  /** Whether to verify an empty list with a second one, for objects that a live cluster always has. */
  readonly verifyEmptyLists?: boolean;
}

export interface ReflectorListener<T> {
  /** Called for each change, after the store holds it. `onBug` gets what it throws. */
  readonly onChange: (change: Change<T>) => void;
  /**
   * Called before and after the objects of a list are reported one by one. In between, what is known is a part of a list: it
   * proves that nothing is absent.
   */
  readonly onList?: (phase: 'begin' | 'end') => void;
  /** Called when the state changes. */
  readonly onState?: (state: ReflectorState) => void;
}

export type ReflectorState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'listing' }
  | { readonly kind: 'watching' }
  /** A transient failure; the next attempt is at `until`, in monotonic ms. */
  | {
      readonly kind: 'backing-off';
      readonly problem: string;
      /** The status of an answer; undefined without one. */
      readonly status?: number | undefined;
      readonly failures: number;
      readonly until: number;
    }
  /** Access is denied or the cluster lacks this kind: an administrator must act. The reflector keeps retrying. */
  | { readonly kind: 'denied'; readonly problem: string; readonly until: number }
  | { readonly kind: 'stopped' };

export interface ReflectorFigures {
  readonly state: ReflectorState;
  /** When it entered that state, in monotonic ms. */
  readonly since: number;
  readonly objects: number;
  /** Complete lists after the first, without requested ones. */
  readonly relists: number;
  /** Watches that ended before their time-out, without those that a requested list replaced. */
  readonly watchRestarts: number;
  /** Received over watches, without bookmarks. */
  readonly events: number;
  /** When the server last sent anything, in monotonic ms. */
  readonly lastActivity: number | undefined;
}

/** Objects of a list to report before the event loop gets a turn. */
const batch = 20;

/** How long an empty list is no evidence against known objects, in ms. */
const maxVerification = 600_000;

/**
 * Bounds of the server-side watch time-out, in seconds. Resuming costs no list, and a server sends a bookmark shortly
 * before. What a dead connection withholds for that long is served within a minute.
 */
const watchSeconds = { min: 25, span: 10 };

/** How much later than its time-out the end of a watch may arrive, in ms. */
const latestEnd = 2000;
/** How much earlier the server's clock may end it, in ms. */
const earliestEnd = 1000;

export class Reflector<T> {
  readonly #ports: ClientPorts;
  readonly #reflected: Reflected<T>;
  readonly #listener: ReflectorListener<T>;
  readonly #collection: Collection;
  readonly #store = new ObjectStore<T>();
  readonly #synced = Promise.withResolvers<void>();
  #state: ReflectorState = { kind: 'idle' };
  #since = -Infinity;
  #problem: string | undefined;
  #course: Course = fairCourse;
  /** Where the next watch resumes; undefined when a list is due. */
  #resourceVersion: string | undefined;
  #lists = 0;
  #refreshes = 0;
  /** The next watch replaces one that ended in order: at its time-out, or for a requested list. */
  #isInOrder = true;
  /** Server-side time-out of the last watch, in ms. */
  #watchTime = (watchSeconds.min + watchSeconds.span) * 1000;
  /**
   * The last list was empty and is not confirmed yet. A watch delivers later changes only, not what that list lacked, so the first
   * object that it names asks for another list: acting on some of the objects could harm the others.
   */
  #mayBeIncomplete = false;
  /** Since when lists have been empty despite known objects, in monotonic ms. */
  #emptySince: number | undefined;
  #watches = 0;
  #restarts = 0;
  #events = 0;
  #lastActivity: number | undefined;
  /** The current list, watch or back-off. */
  #round: LinkedAbort | undefined;
  /** Callers that wait for a list which starts from now on. */
  #waiting: readonly (() => void)[] = [];

  constructor(ports: ClientPorts, reflected: Reflected<T>, listener: ReflectorListener<T>) {
    this.#ports = ports;
    this.#reflected = reflected;
    this.#listener = listener;
    this.#collection = { ...reflected, transport: ports.transport, clock: ports.clock };
  }

  /** The kept part of every object, by key. A live map. */
  get objects(): ReadonlyMap<string, T> {
    return this.#store.objects;
  }

  /** Resolves once `onChange` has received all of the first list; never rejects. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Everything written up to this resource version is known; undefined while that is uncertain. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  /** Why the last attempt to read failed. Cleared only by a success, not by the start of another attempt. */
  get problem(): string | undefined {
    return this.#problem;
  }

  figures(): ReflectorFigures {
    return {
      state: this.#state,
      since: this.#since,
      objects: this.#store.objects.size,
      relists: Math.max(0, this.#lists - this.#refreshes - 1),
      watchRestarts: this.#restarts,
      events: this.#events,
      lastActivity: this.#lastActivity,
    };
  }

  /**
   * How long the server has sent nothing, in ms, if a working watch would have ended or delivered something by now.
   * Undefined before the first list, and while an administrator must act.
   */
  silence(): number | undefined {
    const { kind } = this.#state;
    if (this.#lastActivity === undefined || kind === 'denied' || kind === 'stopped') return undefined;
    const silence = this.#ports.clock.monotonic() - this.#lastActivity;
    return silence > this.#watchTime + latestEnd ? silence : undefined;
  }

  /**
   * Relists at once, in place of the current list or watch. Resolves once everything written before this call is known,
   * however far the watch lags. Never rejects, and never resolves after `run` ends.
   */
  refresh(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting = [...this.#waiting, resolve];
    this.#round?.abort();
    return promise;
  }

  /** Applies the answer to one of our own writes if the store has the object and the answer is newer. */
  observe(raw: JsonObject): void {
    if (this.#isKnown(raw, textAt(raw, 'metadata', 'resourceVersion') ?? '')) return;
    const read = this.#read(raw);
    if (read !== undefined) this.#notify(this.#store.observe(read));
  }

  /** Runs until `signal` aborts, then resolves. Call it once. */
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
    const { clock, random } = this.#ports;
    const what = this.#resourceVersion === undefined || this.#waiting.length > 0 ? 'list' : 'watch';
    const start = clock.monotonic();
    const eventsBefore = this.#events;
    const end = await this.#attempt(what, signal);
    if (end === 'listed') return;

    const now = clock.monotonic();
    const duration = now - start;
    this.#isInOrder = end.kind === 'ended' && duration >= this.#watchTime - earliestEnd;
    const attempt = { what, end, duration, progressed: this.#events > eventsBefore } as const;
    const next = nextAfter(this.#course, attempt, now, random);
    this.#course = next.course;
    if (next.begin === 'list' || this.#mayBeIncomplete) this.#resourceVersion = undefined;
    if (end.kind !== 'ended' || next.wait > 0) this.#enter(this.#pause(end, now + next.wait));
    if (next.wait > 0) await sleep(clock, next.wait, signal);
  }

  /** Reports an unexpected error as a bug and treats it as a failed attempt. */
  async #attempt(what: 'list' | 'watch', signal: AbortSignal): Promise<WatchEnd | 'listed'> {
    try {
      return what === 'list' ? await this.#list(signal) : await this.#watch(signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#ports.onBug(error);
      return { kind: 'unavailable', message: `the ${what} failed for a bug: ${String(error)}` };
    }
  }

  async #list(signal: AbortSignal): Promise<WatchEnd | 'listed'> {
    this.#enter({ kind: 'listing' });
    this.#store.beginListing();
    const { clock } = this.#ports;
    const waiting = this.#waiting;
    const read = (raw: JsonObject): Read<T> | undefined => this.#unchanged(raw) ?? this.#read(raw);
    const listing = await listAll({ ...this.#collection, read }, signal);
    if (listing.kind !== 'listed') return listing;
    this.#lastActivity = clock.monotonic();
    const unreliable = this.#whyUnreliable(listing);
    if (unreliable !== undefined) return { kind: 'unavailable', message: unreliable };
    const isAskedAgain = this.#mayBeIncomplete;
    this.#mayBeIncomplete = this.#reflected.verifyEmptyLists === true && listing.objects.size === 0;
    this.#listener.onList?.('begin');
    await this.#replace(listing, signal);
    this.#listener.onList?.('end');
    this.#store.endListing();
    this.#resourceVersion = listing.resourceVersion;
    this.#lists++;
    this.#synced.resolve();
    this.#waiting = this.#waiting.filter((resolve) => !waiting.includes(resolve));
    if (waiting.length > 0 || isAskedAgain) {
      this.#refreshes++;
      this.#isInOrder = true;
    }
    for (const resolve of waiting) resolve();
    return 'listed';
  }

  /** An empty list is no evidence that known objects are gone: a watch reports each deletion. */
  #whyUnreliable({ objects }: Listing<T> & { kind: 'listed' }): string | undefined {
    const known = this.#store.objects.size;
    const now = this.#ports.clock.monotonic();
    if (objects.size > 0 || known === 0 || this.#reflected.verifyEmptyLists !== true)
      this.#emptySince = undefined;
    else if (now < (this.#emptySince ??= now) + maxVerification)
      return `the list of ${this.#reflected.path} is empty, and ${known} objects were there before`;
    return undefined;
  }

  async #replace(listing: Listing<T> & { kind: 'listed' }, signal: AbortSignal): Promise<void> {
    const vanished = this.#store.vanished(listing.objects, listing.resourceVersion);
    for (const key of vanished) this.#notify(this.#store.forget(key));
    let notified = 0;
    for (const read of listing.objects.values()) {
      this.#notify(this.#store.settle(read));
      if (++notified % batch === 0) await sleep(this.#ports.clock, 0, signal);
    }
  }

  #watch(signal: AbortSignal): Promise<WatchEnd> {
    const { clock, random } = this.#ports;
    const timeoutSeconds = watchSeconds.min + random.integer(watchSeconds.span + 1);
    this.#watchTime = timeoutSeconds * 1000;
    return watchOnce(
      this.#collection,
      {
        resourceVersion: this.#resourceVersion ?? '',
        timeoutSeconds,
        onOpen: () => {
          if (this.#watches > 0 && !this.#isInOrder) this.#restarts++;
          this.#watches++;
          this.#lastActivity = clock.monotonic();
          this.#enter({ kind: 'watching' });
        },
        onEvent: (event) => this.#take(event),
      },
      signal,
    );
  }

  #take({ type, object, resourceVersion }: WatchEvent): void {
    this.#lastActivity = this.#ports.clock.monotonic();
    this.#resourceVersion = resourceVersion;
    if (type === 'BOOKMARK') return;
    this.#events++;
    if (this.#mayBeIncomplete && type !== 'DELETED') {
      this.#resourceVersion = undefined;
      this.#round?.abort();
      return;
    }
    // The watch echoes our own writes, whose answers are known already.
    if (type !== 'DELETED' && this.#isKnown(object, resourceVersion)) return;
    const read = this.#read(object);
    if (read === undefined) return;
    if (type === 'DELETED') this.#notify(this.#store.remove(read.key, resourceVersion, read.object));
    else this.#notify(this.#store.apply(read));
  }

  /** The known state of an object, if its resource version is unchanged. */
  #unchanged(raw: JsonObject): Read<T> | undefined {
    const known = this.#store.known(keyOf(raw) ?? '');
    return known?.resourceVersion === textAt(raw, 'metadata', 'resourceVersion') ? known : undefined;
  }

  #isKnown(raw: JsonObject, resourceVersion: string): boolean {
    const key = keyOf(raw);
    return key !== undefined && this.#store.isKnown(key, resourceVersion);
  }

  /** The kept part of an object. If `transform` throws, which is a bug, the known state stays. */
  #read(raw: JsonObject): Read<T> | undefined {
    const { transform, path } = this.#reflected;
    const { onBug } = this.#ports;
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

  #notify(change: Change<T> | undefined): void {
    if (change === undefined) return;
    try {
      this.#listener.onChange(change);
    } catch (error) {
      this.#ports.onBug(error);
    }
  }

  #pause(end: WatchEnd, until: number): ReflectorState {
    const problem = end.kind === 'ended' ? 'the server ends watches as soon as they start' : end.message;
    if (end.kind === 'gone') return { kind: 'denied', problem: this.#undefined(problem), until };
    if (end.kind === 'denied') return { kind: 'denied', problem, until };
    const status = end.kind === 'unavailable' ? end.status : undefined;
    return { kind: 'backing-off', problem, status, failures: this.#course.backoff?.failures ?? 0, until };
  }

  /** Only the kinds that Cilium defines can be missing. */
  #undefined(problem: string): string {
    return `the cluster does not serve ${this.#reflected.path}: install Cilium, which registers it (${problem})`;
  }

  #enter(state: ReflectorState): void {
    if (state.kind === this.#state.kind && !('until' in state)) return;
    this.#state = state;
    if ('problem' in state) this.#problem = state.problem;
    else if (state.kind === 'watching') this.#problem = undefined;
    this.#since = this.#ports.clock.monotonic();
    try {
      this.#listener.onState?.(state);
    } catch (error) {
      this.#ports.onBug(error);
    }
  }
}

/** `namespace/name`, or the name of a cluster-scoped object. */
function keyOf(raw: JsonObject): string | undefined {
  const name = textAt(raw, 'metadata', 'name');
  const namespace = textAt(raw, 'metadata', 'namespace');
  return name === undefined || namespace === undefined ? name : `${namespace}/${name}`;
}
