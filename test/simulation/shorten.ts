// Reduces a failing scenario: leaves out everything that the failure does not need, so that a person can read the rest.
// Delta debugging (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input) on each of its parts.
import type { Invariant } from './invariants/violation.ts';
import { runScenario } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';

/** `mayGoOn`: asked before each run. If it returns false, the shortest scenario so far is the result. */
export async function shorten(
  scenario: Scenario,
  invariant: Invariant,
  mayGoOn: () => boolean,
): Promise<Scenario> {
  const shows = async (candidate: Scenario): Promise<boolean> => {
    if (!mayGoOn()) return false;
    const { violations } = await runScenario(candidate);
    return violations[0]?.invariant === invariant;
  };
  let short = scenario;
  if (!mayGoOn()) return short;
  const { violations } = await runScenario(scenario);
  const at = violations[0]?.at ?? Infinity;
  const changes: readonly ((scenario: Scenario) => Scenario)[] = [
    (rest) => ({ ...rest, minMutations: 0, minMinutes: 0 }),
    (rest) => ({ ...rest, faults: rest.faults.filter((fault) => fault.at <= at) }),
    (rest) => ({ ...rest, minutes: Math.min(rest.minutes, Math.ceil(at / 60_000)) }),
  ];
  for (const change of changes) if (await shows(change(short))) short = change(short);
  for (let size = Infinity; sizeOf(short) < size; ) {
    size = sizeOf(short);
    const faults = await fewest(short.faults, (faults) => shows({ ...short, faults }));
    short = { ...short, faults };
    const workloads = await fewest(short.workloads, (workloads) => shows({ ...short, workloads }));
    short = { ...short, workloads };
    const nodes = await fewest(short.nodes, (nodes) => shows({ ...short, nodes }));
    short = { ...short, nodes };
    const single = { ...short, replicas: 1 };
    if (short.replicas > 1 && (await shows(single))) short = single;
  }
  return short;
}

function sizeOf({ faults, workloads, nodes, replicas }: Scenario): number {
  return faults.length + workloads.length + nodes.length + replicas;
}

/** As few items as still suffice, by halves, then quarters, and so on; at least one. */
async function fewest<T>(
  items: readonly T[],
  willDo: (items: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let kept = items;
  for (let portion = Math.ceil(kept.length / 2); portion >= 1 && kept.length > 1; ) {
    let start = 0;
    while (start < kept.length && kept.length > 1) {
      const without = [...kept.slice(0, start), ...kept.slice(start + portion)];
      if (without.length > 0 && (await willDo(without))) kept = without;
      else start += portion;
    }
    if (portion === 1) break;
    portion = Math.ceil(portion / 2);
  }
  return kept;
}
