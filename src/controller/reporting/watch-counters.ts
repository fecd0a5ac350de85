// What is logged, counted and said of the watches of a process.
import type { ReflectorFigures, ReflectorState } from '../../kubernetes/watch/reflector.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';

/** A watch is renewed every 10 min at most. One that is silent for longer is broken. In ms. */
const maxSilence = 15 * 60_000;

export function logReflectorState(log: Logger, resource: string, state: ReflectorState): void {
  if (state.kind === 'denied') log.warn('cannot read from Kubernetes', { resource, problem: state.problem });
  else if (state.kind === 'backing-off' && state.failures > 1) {
    log.warn('cannot read from Kubernetes for now', { resource, problem: state.problem });
  } else log.debug('watching Kubernetes', { resource, state: state.kind });
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
