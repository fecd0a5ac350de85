// Shortens a scenario that shows something wrong: leaves out whatever it shows it without, so that a person can read what is
// left. Delta debugging (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input) on each of its parts.
import type { Invariant } from './invariants/violation.ts';
import { play } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';

/** `mayGoOn`: asked before each play; what is shortest so far is the result when it is time to end. */
export async function shorten(
  scenario: Scenario,
  invariant: Invariant,
  mayGoOn: () => boolean,
): Promise<Scenario> {
  const shows = async (candidate: Scenario): Promise<boolean> => {
    if (!mayGoOn()) return false;
    const { breaches } = await play(candidate);
    return breaches[0]?.invariant === invariant;
  };
  let short = scenario;
  if (!mayGoOn()) return short;
  const { breaches } = await play(scenario);
  const at = breaches[0]?.at ?? Infinity;
  const changes: readonly ((scenario: Scenario) => Scenario)[] = [
    (rest) => ({ ...rest, leastMutations: 0, leastMinutes: 0 }),
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

/** As few of the items as still will do, by halves, then quarters, and so on; at least one. */
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
