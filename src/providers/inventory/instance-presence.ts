// Tracks whether the cloud shows an instance, and schedules the next refresh if it does not. An answer without the
// instance, or without any of its interfaces, proves nothing.
import type { InstanceView, Instance } from '../contract/facts.ts';

/** A complete refresh of the instance. */
interface InstanceReading {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Whether it shows the instance with its primary interface, and whether with any interface. */
  readonly showsPrimary: boolean;
  readonly isShown: boolean;
  /** Whether it shows all that the instance has, and whether it lacks an interface that was known. */
  readonly whole: boolean;
  readonly isLacking: boolean;
}

type Presence = InstanceView['presence'];

/**
 * Delay before the first repeated refresh of an instance that was not found, as a fraction of the consistency window:
 * usually one second.
 */
const firstPause = 1 / 30;
/** Delay between refreshes of an instance shown without its primary interface, in consistency windows. */
const partialPause = 4;

const aliveStates: readonly Instance['state'][] = ['pending', 'running', 'stopping', 'stopped'];

export class InstancePresence {
  readonly #consistencyWindow: number;
  #presence: Presence = 'unread';
  #instance: Instance | undefined;
  /**
   * Consecutive refreshes that found no interface: whether they showed that the instance exists, and when the first one
   * ended.
   */
  #missing: { readonly isAlive: boolean; readonly since: number } | undefined;

  constructor(consistencyWindow: number) {
    this.#consistencyWindow = consistencyWindow;
  }

  get presence(): Presence {
    return this.#presence;
  }

  get instance(): Instance | undefined {
    return this.#instance;
  }

  get isTerminated(): boolean {
    return this.#instance?.state === 'terminated';
  }

  /** Termination is final, even after the cloud has forgotten the instance. */
  setInstance(shown: Instance): void {
    this.#instance = this.isTerminated ? { ...shown, state: 'terminated' } : shown;
  }

  /** A read shows something on the instance. Returns whether its presence changed. */
  found(): boolean {
    return this.#presence !== 'terminated' && this.#enter('shown');
  }

  /**
   * Applies a refresh. Returns whether the presence changed and when to refresh again; undefined if nothing is
   * unconfirmed.
   */
  endRefresh(reading: InstanceReading): {
    readonly isNews: boolean;
    readonly refreshDue: number | undefined;
  } {
    const state = this.#instance?.state ?? 'unknown';
    const isAlive = aliveStates.includes(state);
    const isFound = reading.isShown || !(isAlive || state === 'unknown');
    const refreshDue = isFound ? this.#whenPartial(reading) : this.#whenMissing(isAlive, reading);
    if (isFound) this.#missing = undefined;
    return { isNews: this.#enter(this.#presenceAfter(reading, isFound, isAlive)), refreshDue };
  }

  /** A single answer that lacks a previously shown instance proves nothing. */
  #presenceAfter(
    { startedAt, endedAt, showsPrimary }: InstanceReading,
    isFound: boolean,
    isAlive: boolean,
  ): Presence {
    if (this.isTerminated) return 'terminated';
    if (isFound) return showsPrimary ? 'shown' : 'withoutPrimary';
    const since = this.#missing?.since ?? endedAt;
    if (this.#presence === 'shown' && startedAt - since < this.#consistencyWindow) return 'shown';
    return isAlive ? 'withoutPrimary' : 'notFound';
  }

  /** An instance shown without its primary interface, or in part, may become fully visible later. */
  #whenPartial({ endedAt, isShown, ...answer }: InstanceReading): number | undefined {
    const isClear = answer.whole || (answer.showsPrimary && !answer.isLacking);
    if (!isShown || isClear || this.isTerminated) return undefined;
    return endedAt + partialPause * this.#consistencyWindow;
  }

  /**
   * The instance may be newly launched with pods waiting, so it is refreshed soon, with growing delays. This lasts one
   * consistency window, or as long as the instance exists.
   */
  #whenMissing(isAlive: boolean, { startedAt, endedAt }: InstanceReading): number | undefined {
    const missing = this.#missing?.isAlive === isAlive ? this.#missing : { isAlive, since: endedAt };
    this.#missing = missing;
    const window = this.#consistencyWindow;
    const end = missing.since + window;
    const pause = Math.max(endedAt - missing.since, window * firstPause);
    if (startedAt < end) return Math.min(endedAt + pause, Math.max(endedAt, end));
    return isAlive ? endedAt + window : undefined;
  }

  #enter(presence: Presence): boolean {
    const isNews = this.#presence !== presence;
    this.#presence = presence;
    return isNews;
  }
}
