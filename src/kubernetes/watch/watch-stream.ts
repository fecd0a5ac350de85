// Runs one watch from request to end. It only reads; the reflector decides what follows.
//
// The protocol: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
import type { Clock } from '../../runtime/clock.ts';
import { type ApiRefusal, refusalOf, refusalOfStatus, withoutAnswer } from '../transport/api-reply.ts';
import { isObject, type Json, type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import { KubernetesError } from '../transport/kubernetes-error.ts';
import { LinkedAbort } from '../transport/linked-abort.ts';
import {
  type KubernetesTransport,
  slowReadTimeout,
  type StreamAnswer,
  type StreamLine,
} from '../transport/transport.ts';

/** The objects of a collection, or those that the selectors select. */
export interface Selection {
  /** The path without a query, such as `/apis/cilium.io/v2/ciliumnodes`. */
  readonly path: string;
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

/** A selection, and the server that it is read from. */
export interface Collection extends Selection {
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
}

export interface WatchOptions {
  /** The watch delivers changes after this one. */
  readonly resourceVersion: string;
  /** The server ends the watch after this many seconds. */
  readonly timeoutSeconds: number;
  readonly onOpen: () => void;
  readonly onEvent: (event: WatchEvent) => void;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** A bookmark carries only the resource version. */
  readonly object: JsonObject;
  readonly resourceVersion: string;
}

export type WatchEnd =
  /** The server ended the watch, as it does after `timeoutSeconds`. */
  { readonly kind: 'ended' } | ApiRefusal;

/** How long to read events, in ms, before other work gets a turn: a busy socket would go on for megabytes. */
const maxReading = 5;

/**
 * A connection that is silent for the watch's time-out plus this is dead, in ms. TCP need not notice: a load balancer
 * whose other side is gone acknowledges everything.
 */
const idleSlack = 5000;

/**
 * Watches until the server, the connection or silence ends it. Rejects only with the signal's reason, or with what
 * `onEvent` throws.
 */
export async function watchOnce(
  collection: Collection,
  options: WatchOptions,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const { clock, transport } = collection;
  const idle = new IdleGuard(clock, options.timeoutSeconds * 1000 + idleSlack, signal);
  try {
    const request = {
      method: 'GET',
      path: pathOf(collection, {
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: options.resourceVersion,
        timeoutSeconds: String(options.timeoutSeconds),
      }),
      timeoutMs: slowReadTimeout,
    } as const;
    const answer = await transport.stream(request, idle.signal);
    if (answer.kind === 'refused') return refusalOf(answer.answer);
    idle.touch();
    options.onOpen();
    return await readLines(answer, { clock, onEvent: options.onEvent }, idle);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return withoutAnswer(error);
  } finally {
    idle.release();
  }
}

async function readLines(
  { lines }: StreamAnswer & { kind: 'open' },
  { clock, onEvent }: Pick<Collection, 'clock'> & Pick<WatchOptions, 'onEvent'>,
  idle: IdleGuard,
): Promise<WatchEnd> {
  let spent = 0;
  for await (const line of lines) {
    // One chunk brings many lines, and what an event leads to may end the watch.
    idle.signal.throwIfAborted();
    const startedAt = clock.monotonic();
    idle.touch();
    const read = readEvent(line);
    if (read.kind !== 'event') return read;
    onEvent(read.event);
    spent += clock.monotonic() - startedAt;
    if (spent < maxReading) continue;
    await new Promise<void>((resolve) => clock.schedule(0, resolve, true));
    spent = 0;
  }
  return { kind: 'ended' };
}

function readEvent(line: StreamLine): { readonly kind: 'event'; readonly event: WatchEvent } | ApiRefusal {
  let value: Json;
  try {
    value = typeof line === 'string' ? (JSON.parse(line) as Json) : line;
  } catch {
    return { kind: 'unavailable', message: `the watch sent a line that is not JSON: ${start(line)}` };
  }
  const type = isObject(value) ? textAt(value, 'type') : undefined;
  const object = isObject(value) ? valueAt(value, 'object') : undefined;
  if (type === 'ERROR') return errorEvent(object);
  const resourceVersion = textAt(object, 'metadata', 'resourceVersion');
  if (!isEventType(type) || !isObject(object) || resourceVersion === undefined) {
    return { kind: 'unavailable', message: `the watch sent an event that cannot be read: ${start(line)}` };
  }
  return { kind: 'event', event: { type, object, resourceVersion } };
}

function start(line: StreamLine): string {
  return (typeof line === 'string' ? line : JSON.stringify(line)).slice(0, 200);
}

/** An error event ends the watch, whatever its code: no event is known to follow one. */
function errorEvent(status: unknown): ApiRefusal {
  const code = isObject(status) ? valueAt(status, 'code') : undefined;
  const message = `the watch sent an error: ${JSON.stringify(status)?.slice(0, 500)}`;
  return refusalOfStatus(typeof code === 'number' ? code : 500, status, { message });
}

function isEventType(type: string | undefined): type is WatchEvent['type'] {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'BOOKMARK';
}

/** The path of a request for a selection. `query`: parameters beside its selectors, without those that are undefined. */
export function pathOf(
  { path, fieldSelector, labelSelector }: Selection,
  query: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.entries({ fieldSelector, labelSelector, ...query }).filter(
    (each): each is [string, string] => each[1] !== undefined,
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** Aborts its signal `limit` ms after the last touch. It keeps a single timer, however many touches arrive. */
class IdleGuard {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #abort: LinkedAbort;
  readonly signal: AbortSignal;
  #touched: number | undefined;
  #cancel = (): void => undefined;

  constructor(clock: Clock, limit: number, parent: AbortSignal) {
    this.#clock = clock;
    this.#limit = limit;
    this.#abort = new LinkedAbort(parent);
    this.signal = this.#abort.signal;
  }

  touch(): void {
    const isFirst = this.#touched === undefined;
    this.#touched = this.#clock.monotonic();
    if (isFirst) this.#checkIn(this.#limit);
  }

  release(): void {
    this.#cancel();
    this.#abort.release();
  }

  #checkIn(ms: number): void {
    this.#cancel = this.#clock.schedule(ms, () => this.#check());
  }

  #check(): void {
    const quiet = this.#clock.monotonic() - (this.#touched ?? 0);
    if (quiet < this.#limit) {
      this.#checkIn(this.#limit - quiet);
      return;
    }
    const message = `the watch sent nothing for ${Math.round(quiet / 1000)} s, not even its end`;
    this.#abort.abort(new KubernetesError('KUBERNETES_TIMEOUT', message));
  }
}
