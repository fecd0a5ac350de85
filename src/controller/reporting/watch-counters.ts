// Log lines, counts and reports of the watches of a process.
import type { ReflectorFigures, ReflectorState } from '../../kubernetes/watch/reflector.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';

/** A watch is renewed every 10 min at most. One that is silent for longer is broken. In ms. */
const maxSilence = 15 * 60_000;

/** How long the same problem is not logged again, in ms. */
const reminder = 300_000;

/** Logs the states of all watches of a process. An outage of the API server stops each of them: it is one line, and so is its end. */
export class ReadLog {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Logger;
  /** Resources that cannot be read for now, of which people know. */
  readonly #failing = new Set<string>();
  /** When each problem was last logged, in monotonic ms. */
  readonly #toldAt = new Map<string, number>();

  constructor({ clock, log }: { readonly clock: Pick<Clock, 'monotonic'>; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  note(resource: string, state: ReflectorState): void {
    if (state.kind === 'denied')
      this.#warn('cannot read from Kubernetes', resource, { problem: state.problem, of: resource });
    else if (state.kind === 'backing-off' && state.failures > 1)
      this.#warn('cannot read from Kubernetes for now', resource, { problem: state.problem });
    else this.#log.debug('watching Kubernetes', { resource, state: state.kind });
    if (state.kind === 'watching') this.#noteEnd(resource);
  }

  /** `of`: the resource, if the problem is its own. */
  #warn(
    message: string,
    resource: string,
    { problem, of = '' }: { readonly problem: string; readonly of?: string },
  ): void {
    const key = `${of} ${problem}`;
    const now = this.#clock.monotonic();
    const isNews = now >= (this.#toldAt.get(key) ?? -Infinity) + reminder;
    if (isNews) this.#toldAt.set(key, now);
    this.#failing.add(resource);
    this.#log[isNews ? 'warn' : 'debug'](message, { resource, problem });
  }

  #noteEnd(resource: string): void {
    if (!this.#failing.delete(resource) || this.#failing.size > 0) return;
    this.#toldAt.clear();
    this.#log.info('reading from Kubernetes again');
  }
}

/** A list that has lasted so long is slow, whatever failed before it, in ms. */
const slowList = 10_000;

/**
 * Why the last attempt to read failed; undefined if none has since the last success. A slow list is no failure: it takes any
 * other process as long. `last`: why the attempt before failed. `now` is monotonic.
 */
export function readProblemOf(
  { state, since }: Pick<ReflectorFigures, 'state' | 'since'>,
  last: string | undefined,
  now: number,
): string | undefined {
  if ('problem' in state) return state.problem;
  return state.kind === 'listing' && now - since >= slowList ? undefined : last;
}

/** Undefined while the watch works, or reports its own problem. `now` is monotonic. */
export function silenceProblem(
  { state, lastActivity }: ReflectorFigures,
  now: number,
  what: string,
): string | undefined {
  const silence = now - (lastActivity ?? Infinity);
  if (state.kind !== 'watching' || silence < maxSilence) return undefined;
  return `the watch of ${what} has been silent for ${Math.round(silence / 60_000)} min`;
}

/** Counts relists and restarts of watches once each. */
export class WatchCounters {
  readonly #shown = new Map<string, { readonly relists: number; readonly restarts: number }>();

  show(metrics: Metrics, resource: string, { relists, watchRestarts: restarts }: ReflectorFigures): void {
    const shown = this.#shown.get(resource) ?? { relists: 0, restarts: 0 };
    metrics.headwater_watch_relists_total.add({ resource }, relists - shown.relists);
    metrics.headwater_watch_restarts_total.add({ resource }, restarts - shown.restarts);
    this.#shown.set(resource, { relists, restarts });
  }
}
