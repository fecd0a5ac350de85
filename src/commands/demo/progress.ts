// Decides how long a demonstration may take, as long as something new happens, and says how it ended. A busy machine makes it
// longer, and does not end it.
import { availableParallelism, loadavg } from 'node:os';
import type { Clock } from '../../runtime/clock.ts';
import type { Picture } from './picture.ts';

/**
 * How long nothing new may happen, in ms. Twice the longest wait of a story: a new leader waits for the Lease of a dead
 * one, then 20 s before it takes anything away.
 */
export const patience = 60_000;

export interface ProgressOptions {
  readonly clock: Pick<Clock, 'schedule'>;
  /** How many times longer everything takes at this moment than on an idle machine; at least 1. */
  readonly burden: () => number;
  /** Called after each `patience` without progress, or as many of them as the burden. `times`: how often in a row. */
  readonly onStandstill: (times: number) => void;
}

export class Progress {
  readonly #options: ProgressOptions;
  /** A state that returns is no progress: a fleet that only goes back and forth never settles. */
  readonly #seen = new Set<string>();
  #cancel: () => void;
  #standstills = 0;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#cancel = this.#wait(1);
  }

  /** Call it often. A state that has not been seen before starts the wait anew. */
  note(state: string): void {
    if (this.#seen.has(state)) return;
    this.#seen.add(state);
    this.#cancel();
    this.#cancel = this.#wait(1);
  }

  /** From now on, nothing is awaited. */
  lift(): void {
    this.#cancel();
  }

  /** `periods`: of `patience`, since the last progress. */
  #wait(periods: number): () => void {
    if (periods === 1) this.#standstills = 0;
    return this.#options.clock.schedule(patience, () => {
      this.#cancel = this.#wait(periods + 1);
      const times = Math.floor(periods / this.#options.burden());
      if (times <= this.#standstills) return;
      this.#standstills = times;
      this.#options.onStandstill(times);
    });
  }
}

/** A new process needs seconds of a core before it does anything. A fleet of them shares what other programs leave. */
const maxBurden = 10;

/** By what waits for a core, in the last minute. */
export function burdenOfMachine(): number {
  const [waiting = 0] = loadavg();
  return Math.min(maxBurden, Math.max(1, waiting / availableParallelism()));
}

/** All of a picture that comes to rest once the story is told. Counters never rest, so they are left out. */
export function stateOf(picture: Picture, missing: readonly string[]): string {
  const { nodes, addresses, departures, pods, interfaces, subnets } = picture;
  const { unassigned: _, ...leaving } = departures;
  return JSON.stringify([missing, nodes, addresses, leaving, pods.waiting, interfaces, subnets]);
}

/** `what`: what has not come to its end. */
export function tooSlow(what: string): string {
  return `this machine is too slow, or the controller is stuck (its log says): nothing changed for ${patience / 1000} s or longer, and ${what}`;
}

/** How a demonstration can end. */
export type Verdict =
  | { readonly kind: 'settled' }
  | { readonly kind: 'broken' }
  /** Nothing changes any more. `missing`: titles of chapters that did not show everything. */
  | { readonly kind: 'standstill'; readonly missing: readonly string[] }
  | { readonly kind: 'interrupted' }
  /** `starved`: its machine is too slow for it. */
  | { readonly kind: 'controllerEnded' | 'starved'; readonly why: string };

/** Whether the machine, or a controller that is stuck, kept it from its end. */
export function isTooSlow({ kind }: Verdict): boolean {
  return kind === 'standstill' || kind === 'starved';
}

/** `releases`: a settled node has no more than its watermarks ask for, either. */
export function wordsOf(verdict: Verdict, releases: boolean): string {
  switch (verdict.kind) {
    case 'settled':
      return `every pod has its address, every node what its watermarks ask for${releases ? ' and no more' : ''}, and no invariant was broken`;
    case 'broken':
      return 'an invariant was broken';
    case 'standstill':
      return tooSlow(
        `not everything is settled${
          verdict.missing.length > 0 ? `; not at their end: ${verdict.missing.join(', ')}` : ''
        }`,
      );
    case 'interrupted':
      return 'interrupted';
    case 'controllerEnded':
    case 'starved':
      return verdict.why;
  }
}
