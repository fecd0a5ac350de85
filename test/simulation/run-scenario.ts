// Runs a scenario from start to end and returns the violations.
import type { ActionDigest } from './action-digest.ts';
import { approveWithdrawals } from './administrator.ts';
import { injectFault, endFaults } from './inject-fault.ts';
import type { Violation } from './invariants/violation.ts';
import { injectExtraChurn } from './extra-churn.ts';
import { offerForRelease } from './hostile-agent.ts';
import { watchForLatePods } from './invariants/late-pods.ts';
import { convergenceViolations } from './invariants/convergence.ts';
import type { Scenario } from './scenario.ts';
import { Harness, type HarnessOptions } from './harness.ts';

export interface ScenarioResult {
  readonly seed: string;
  readonly violations: readonly Violation[];
  /** Digest of the history: the same for the same seed. */
  readonly digest: string;
  /** Digest of the decisions of controllers: the same on either path to the cloud. */
  readonly decisions: string;
  readonly decided: readonly string[];
  readonly actions: ActionDigest;
  /** The actions as text; empty unless traced. */
  readonly actionLog: readonly string[];
  readonly events: number;
  /** Calls that change the cloud. */
  readonly mutations: number;
  readonly faults: number;
  readonly nodes: number;
  /** In virtual ms. */
  readonly lasted: number;
  readonly coverage: ReadonlyMap<string, number>;
  /** The history as text; empty unless traced. */
  readonly lines: readonly string[];
}

const minute = 60_000;
/** Maximum time from the last fault to convergence, in ms. */
const convergenceTimeout = 25 * minute;
/** How long no controller may act afterwards, in ms. */
const quietPeriod = 6 * minute;

export async function runScenario(scenario: Scenario, options: HarnessOptions = {}): Promise<ScenarioResult> {
  const harness = new Harness(scenario, options);
  harness.cluster.kubernetes.follow('ciliumnodes.cilium.io', (change) => offerForRelease(harness, change));
  harness.rig.faults.onMet = (fault, action) => {
    const form = fault.kind === 'lost' ? `lost ${fault.effect}` : fault.kind;
    harness.coverage.hit('cloud', form, action);
  };
  const endWorkloads = new AbortController();
  await start(harness, endWorkloads.signal);
  const faults = await injectFaults(harness);
  endFaults(harness);
  endWorkloads.abort();
  await settle(harness);
  await harness.end();
  return {
    seed: scenario.seed,
    violations: harness.checker.violations,
    digest: harness.history.digest(),
    decisions: harness.history.decisionDigest(),
    decided: harness.history.decided,
    actions: harness.actions.end(),
    actionLog: harness.actions.log,
    events: harness.events,
    mutations: harness.mutations,
    faults,
    nodes: scenario.nodes.length,
    lasted: harness.now,
    coverage: harness.coverage.cells,
    lines: harness.history.lines,
  };
}

async function start(harness: Harness, signal: AbortSignal): Promise<void> {
  const { workload } = harness.cluster;
  const started = workload.start();
  await harness.clock.advance(1);
  await started;
  harness.startReplicas();
  if (harness.scenario.maxWait !== undefined) watchForLatePods(harness, harness.scenario.maxWait);
  for (const load of harness.scenario.workloads) harness.runInBackground(workload.run(load, signal));
}

/** Returns the number of faults. Returns early after a violation. */
async function injectFaults(harness: Harness): Promise<number> {
  const end = harness.scenario.minutes * minute;
  let faults = 0;
  for (const fault of harness.scenario.faults) {
    await harness.clock.runUntil(() => hasViolation(harness), fault.at - harness.now);
    if (hasViolation(harness)) return faults;
    await harness.clock.advance(Math.max(0, fault.at - harness.now));
    injectFault(harness, fault);
    faults++;
  }
  await harness.clock.runUntil(() => hasViolation(harness), end - harness.now);
  return faults + (await injectExtraChurn(harness, () => hasViolation(harness)));
}

/** One violation is enough. */
function hasViolation({ checker }: Harness): boolean {
  return checker.violations.length > 0;
}

async function settle(harness: Harness): Promise<void> {
  if (hasViolation(harness)) return;
  const since = harness.now;
  const min = (harness.scenario.minMinutes ?? 0) * minute;
  const isConverged = (open: readonly Violation[]): boolean =>
    open.length === 0 &&
    harness.now >= min &&
    harness.now - Math.max(harness.lastChangeAt, since) > quietPeriod;
  let open: readonly Violation[] = [];
  do {
    await harness.clock.advance(minute / 2);
    if (hasViolation(harness)) return;
    approveWithdrawals(harness, since);
    open = convergenceViolations(harness);
  } while (!isConverged(open) && harness.now <= Math.max(since + convergenceTimeout, min));
  for (const violation of open) harness.checker.report(violation.invariant, violation.text);
  if (harness.now - harness.lastChangeAt <= quietPeriod) {
    harness.checker.report('not-quiescent', `the controller still makes changes: ${harness.lastChange}`);
  }
}
