// Computes the actions of a workload in time order, only from its description and randomness. It does not
// depend on how the cluster reacts.
import type { Random } from '../../runtime/random.ts';
import type { Burst, Departure, RollingDeploy, SteadyLoad, Workload, WorkloadAction } from './workload.ts';

const minute = 60_000;

/** The actions of a workload; infinite if the workload has no end. */
export function scheduleOf(workload: Workload, random: Random): Iterable<WorkloadAction> {
  switch (workload.kind) {
    case 'steady':
      return steadyActions(workload, random);
    case 'burst':
      return burstActions(workload);
    case 'departure':
      return departureActions(workload);
    case 'rolling-deploy':
      return rollingActions(workload);
    case 'node-churn':
      return repeated('replace-node', workload.every, workload.every);
    case 'agent-restarts':
      return repeated('restart-agent', workload.every, workload.every);
    case 'rolling-upgrade':
      return repeated('upgrade-agent', workload.at, workload.every);
  }
}

function* repeated(
  kind: 'replace-node' | 'restart-agent' | 'upgrade-agent',
  first: number,
  every: number,
): Generator<WorkloadAction> {
  for (let at = first; ; at += every) yield { at, kind };
}

function* steadyActions(load: SteadyLoad, random: Random): Generator<WorkloadAction> {
  const departures = new Departures();
  const end = load.duration ?? Number.POSITIVE_INFINITY;
  let at = exponential(random, minute / load.arrivalsPerMinute);
  for (let index = 1; at <= end; index++) {
    yield* departures.until(at);
    const pod = `${load.name}-${index}`;
    yield creation(load, pod, at);
    departures.add(pod, at + exponential(random, load.meanLifetime));
    at += exponential(random, minute / load.arrivalsPerMinute);
  }
  yield* departures.until(Number.POSITIVE_INFINITY);
}

function* burstActions(load: Burst): Generator<WorkloadAction> {
  const departures = new Departures();
  for (let index = 0; index < load.pods; index++) {
    const at = load.at + (load.over * index) / load.pods;
    yield* departures.until(at);
    const pod = `${load.name}-${index + 1}`;
    yield creation(load, pod, at);
    if (load.lifetime !== undefined) departures.add(pod, at + load.lifetime);
  }
  yield* departures.until(Number.POSITIVE_INFINITY);
}

function* departureActions({ at, of, pods, over }: Departure): Generator<WorkloadAction> {
  for (let index = 0; index < pods; index++) {
    yield { at: at + (over * index) / pods, kind: 'delete-pod', pod: `${of}-${index + 1}` };
  }
}

function* rollingActions(load: RollingDeploy): Generator<WorkloadAction> {
  const podOf = (round: number, index: number): string => `${load.name}-${round}-${index}`;
  for (let index = 0; index < load.replicas; index++) yield creation(load, podOf(0, index), 0);

  for (let round = 1, at = load.every; ; round++, at = Math.max(at, round * load.every)) {
    for (let done = 0; done < load.replicas; done += load.surge) {
      const last = Math.min(done + load.surge, load.replicas);
      for (let index = done; index < last; index++) yield creation(load, podOf(round, index), at);
      at += load.settle;
      for (let index = done; index < last; index++) {
        yield { at, kind: 'delete-pod', pod: podOf(round - 1, index) };
      }
      at += load.settle;
    }
  }
}

function creation(load: SteadyLoad | Burst | RollingDeploy, pod: string, at: number): WorkloadAction {
  const { hostNetwork = false, placement = 'spread', nodeName } = load;
  return {
    at,
    kind: 'create-pod',
    pod,
    hostNetwork,
    placement,
    ...(nodeName !== undefined && { nodeName }),
  };
}

/** An exponential draw with this mean; always finite. */
function exponential(random: Random, mean: number): number {
  return -Math.log(1 - random.next()) * mean;
}

/** Pods and their departure times, earliest first. */
class Departures {
  readonly #pending: { readonly at: number; readonly pod: string }[] = [];

  add(pod: string, at: number): void {
    let low = 0;
    let high = this.#pending.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#pending[middle]?.at ?? 0) > at) low = middle + 1;
      else high = middle;
    }
    this.#pending.splice(low, 0, { at, pod });
  }

  *until(end: number): Generator<WorkloadAction> {
    for (let next = this.#pending.at(-1); next !== undefined && next.at <= end; next = this.#pending.at(-1)) {
      this.#pending.pop();
      yield { at: next.at, kind: 'delete-pod', pod: next.pod };
    }
  }
}
