// Follows objects of the Kubernetes API: a list, then a watch that resumes after a break, and a new list once
// its version has expired. Events arrive in order and only once, possibly delayed.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { DelayedDelivery } from './delayed-delivery.ts';
import { isObject, type JsonObject, listAt, numberAt, objectAt, textAt } from './json.ts';
import { isConnectionFailure, type KubernetesClient, type Refusal } from './kubernetes-client.ts';

export interface WatchedObjects {
  /** All objects of a list: any other is gone. */
  readonly onList: (objects: readonly JsonObject[]) => void;
  readonly onChange: (object: JsonObject) => void;
  readonly onDelete: (object: JsonObject) => void;
  /** The API refused or the watch broke; a retry follows. */
  readonly onTrouble: (reason: string) => void;
}

export interface WatchOptions {
  readonly client: KubernetesClient;
  /** Path of the collection. */
  readonly path: string;
  readonly fieldSelector: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum delay of an answer, in ms. */
  readonly lag: number;
}

/** Pause before a new list, and between watches that break at once, in ms. */
const pause = 1_000;

type Ending = 'broken' | 'expired';

/** Runs until `signal` aborts, then rejects with its reason. */
export async function watchObjects(
  options: WatchOptions,
  objects: WatchedObjects,
  signal: AbortSignal,
): Promise<never> {
  const delivery = new DelayedDelivery(options.clock, options.random, options.lag, signal);
  const watch = new ObjectWatch(options, objects, delivery);
  for (;;) {
    if (await watch.list(signal)) await watch.follow(signal);
    await sleep(options.clock, pause, signal);
  }
}

class ObjectWatch {
  readonly #options: WatchOptions;
  readonly #objects: WatchedObjects;
  readonly #delivery: DelayedDelivery;
  #version = '';

  constructor(options: WatchOptions, objects: WatchedObjects, delivery: DelayedDelivery) {
    this.#options = options;
    this.#objects = objects;
    this.#delivery = delivery;
  }

  async list(signal: AbortSignal): Promise<boolean> {
    const answer = await this.#options.client.get(this.#url({}), signal);
    if (answer.kind === 'refused') {
      this.#trouble(answer);
      return false;
    }
    this.#version = textAt(answer.object, 'metadata', 'resourceVersion');
    const items = listAt(answer.object, 'items').filter(isObject);
    this.#delivery.deliver(() => this.#objects.onList(items));
    return true;
  }

  /** Repeats watches until the version to resume from has expired. */
  async follow(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const start = clock.monotonic();
      if ((await this.#watchOnce(signal)) === 'expired') return;
      await sleep(clock, Math.max(0, start + pause - clock.monotonic()), signal);
    }
  }

  async #watchOnce(signal: AbortSignal): Promise<Ending> {
    const { client, random } = this.#options;
    const timeout = String(300 + random.integer(300));
    const url = this.#url({
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version,
      timeoutSeconds: timeout,
    });
    const answer = await client.watch(url, signal);
    if (answer.kind === 'refused') return this.#trouble(answer);
    const broke = (error: unknown): void => {
      signal.throwIfAborted();
      if (!isConnectionFailure(error)) throw error;
      this.#objects.onTrouble(String(error));
    };
    try {
      for await (const event of answer.events) {
        const ending = this.#takeEvent(event);
        if (ending !== undefined) return ending;
      }
    } catch (error) {
      broke(error);
    }
    signal.throwIfAborted();
    return 'broken';
  }

  /** Applies one event; returns how the watch ended, if it did. */
  #takeEvent(event: JsonObject): Ending | undefined {
    const object = objectAt(event, 'object');
    const { onChange, onDelete } = this.#objects;
    switch (textAt(event, 'type')) {
      case 'ADDED':
      case 'MODIFIED':
        this.#delivery.deliver(() => onChange(object));
        break;
      case 'DELETED':
        this.#delivery.deliver(() => onDelete(object));
        break;
      case 'ERROR':
        return this.#trouble({
          kind: 'refused',
          status: numberAt(object, 'code'),
          reason: textAt(object, 'reason'),
          message: textAt(object, 'message'),
        });
    }
    this.#version = textAt(object, 'metadata', 'resourceVersion');
    return undefined;
  }

  #trouble(refusal: Refusal): Ending {
    this.#objects.onTrouble(`${refusal.status} ${refusal.reason}: ${refusal.message}`);
    return refusal.status === 410 ? 'expired' : 'broken';
  }

  #url(query: Readonly<Record<string, string>>): string {
    const { path, fieldSelector } = this.#options;
    return `${path}?${new URLSearchParams({ fieldSelector, ...query }).toString()}`;
  }
}
