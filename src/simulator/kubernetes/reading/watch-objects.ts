// A watch: first the existing objects if requested, then every committed change with bookmarks in between,
// until its time-out.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import { expired, StatusError } from '../api-status.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { Selection } from '../selecting/selection.ts';
import type { Change } from '../storage/change.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { EventLine, LineStream } from './line-stream.ts';
import type { ListOptions } from './list-options.ts';
import type { OpenWatches } from './open-watches.ts';
import { checkReached, parseVersion } from './read-objects.ts';
import { bookmarkObject, eventOf, type ObjectEvent } from './watch-events.ts';

export interface WatchEnvironment {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly openWatches: OpenWatches;
  /** A watcher with more unread changes is disconnected, as a real server does with slow watchers. */
  readonly watchBacklog: number;
}

export interface WatchRequest {
  readonly type: ResourceType;
  readonly selection: Selection;
  readonly options: ListOptions;
  /** Path and query; faults select watches by it. */
  readonly url: string;
  /** One event as a line of the body. */
  readonly encode: (event: ObjectEvent) => string | EventLine;
}

const bookmarkInterval = 60_000;
/** Watches without their own time-out end after 30 to 60 minutes. */
const minDefaultTimeout = 1_800_000;
/** The last bookmark comes this long before the end, in ms. */
const farewell = 2_000;

/** Throws `StatusError` for a malformed version. The stream ends when `signal` aborts. */
export function watchObjects(
  processEnvironment: WatchEnvironment,
  request: WatchRequest,
  signal: AbortSignal,
): LineStream {
  const wanted = parseVersion(request.options.resourceVersion);
  const watch = new Watch(processEnvironment, request);
  signal.addEventListener('abort', watch.end, { once: true });
  watch.start(wanted);
  if (signal.aborted) watch.end();
  return watch.lines;
}

class Watch {
  readonly #processEnvironment: WatchEnvironment;
  readonly #request: WatchRequest;
  readonly #cleanup: (() => void)[] = [];
  #startRevision = 0;
  /** The initial objects can be many and do not show how fast the watcher reads. */
  #initialBacklog = Infinity;
  readonly lines = new LineStream(() => {
    for (const undo of this.#cleanup.splice(0)) undo();
  });

  constructor(processEnvironment: WatchEnvironment, request: WatchRequest) {
    this.#processEnvironment = processEnvironment;
    this.#request = request;
  }

  readonly end = (): void => {
    this.lines.end();
  };

  start(wanted: number): void {
    try {
      this.#beginStream(wanted);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      this.lines.push(new EventLine('ERROR', error.status));
      this.end();
    }
  }

  #beginStream(wanted: number): void {
    const { store, openWatches } = this.#processEnvironment;
    this.#startRevision = Math.max(wanted, store.revision);
    const { type, selection, options, url } = this.#request;
    const collection = store.collection(type.collection);
    this.#cleanup.push(openWatches.add({ url, end: this.end, lines: this.lines }));
    if (options.sendInitialEvents === true) this.#sendState(wanted);
    else if (wanted > 0) this.#sendSince(wanted);
    const follow = (change: Change): void => {
      if (change.revision > wanted) this.#sendChange(change);
    };
    this.#cleanup.push(collection.follow(selection.key, follow));
    this.#initialBacklog = this.lines.backlog;
    this.#limitTime();
  }

  #sendState(wanted: number): void {
    const { store } = this.#processEnvironment;
    const { type, selection, options } = this.#request;
    checkReached(store, wanted);
    for (const { object: stored } of store.collection(type.collection).all()) {
      const object = type.fromStored(stored);
      if (selection.matches(object)) this.#send({ type: 'ADDED', object });
    }
    if (options.bookmarks) this.#sendBookmark(true);
  }

  #sendSince(wanted: number): void {
    const { store } = this.#processEnvironment;
    const { type, selection } = this.#request;
    const collection = store.collection(type.collection);
    const changes = collection.changesAfter(wanted);
    if (changes === undefined) {
      throw expired(`too old resource version: ${wanted} (${collection.historyFloor})`);
    }
    for (const change of changes) {
      if (selection.key === undefined || selection.key === change.key) this.#sendChange(change);
    }
  }

  #sendChange(change: Change): void {
    const event = eventOf(change, this.#request.type, this.#request.selection);
    if (event !== undefined) this.#send(event);
  }

  #send(event: ObjectEvent): void {
    this.#deliver(this.#request.encode(event));
    if (this.lines.backlog > this.#initialBacklog + this.#processEnvironment.watchBacklog) this.end();
  }

  #sendBookmark(initialEnd: boolean): void {
    const object = bookmarkObject(this.#request.type, this.#processEnvironment.store.revision, initialEnd);
    this.#deliver(new EventLine('BOOKMARK', object));
  }

  #deliver(text: string | EventLine): void {
    this.#processEnvironment.openWatches.deliver(this.#request.url, text, this.lines);
  }

  #limitTime(): void {
    const { clock, random } = this.#processEnvironment;
    const { timeoutSeconds = 0, bookmarks } = this.#request.options;
    const timeout = timeoutSeconds > 0 ? timeoutSeconds * 1000 : minDefaultTimeout * (1 + random.next());
    this.#cleanup.push(clock.schedule(timeout, this.end));
    if (!bookmarks) return;
    this.#repeatBookmark();
    if (timeout > farewell)
      this.#cleanup.push(clock.schedule(timeout - farewell, () => this.#sendProgress()));
  }

  /** Bookmarks report progress; without changes since the start there is none. */
  #sendProgress(): void {
    if (this.#processEnvironment.store.revision > this.#startRevision) this.#sendBookmark(false);
  }

  #repeatBookmark(): void {
    let cancel = (): void => undefined;
    const arm = (): void => {
      cancel = this.#processEnvironment.clock.schedule(bookmarkInterval, () => {
        this.#sendProgress();
        arm();
      });
    };
    arm();
    this.#cleanup.push(() => cancel());
  }
}
