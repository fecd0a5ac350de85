// Plays a scenario from its beginning to its end, and says what was found.
import type { ActDigest } from './action-digest.ts';
import { letWithdrawalsGo } from './administrator.ts';
import { applyFault, endFaults } from './inject-fault.ts';
import type { Breach } from './invariants/violation.ts';
import { encore } from './extra-churn.ts';
import { agree } from './hostile-agent.ts';
import { watchForLatePods } from './invariants/late-pods.ts';
import { unsettled } from './invariants/convergence.ts';
import type { Scenario } from './scenario.ts';
import { Stage, type StageOptions } from './harness.ts';

export interface Outcome {
  readonly seed: string;
  readonly breaches: readonly Breach[];
  /** Of the history: the same for the same seed. */
  readonly digest: string;
  /** Of what controllers decided: the same on every rig. */
  readonly decisions: string;
  readonly decided: readonly string[];
  readonly acts: ActDigest;
  /** The acts in words; empty unless asked for. */
  readonly acted: readonly string[];
  readonly events: number;
  /** Calls that change the cloud. */
  readonly mutations: number;
  readonly faults: number;
  readonly nodes: number;
  /** Of virtual time, in ms. */
  readonly lasted: number;
  readonly coverage: ReadonlyMap<string, number>;
  /** The history in words; empty unless asked for. */
  readonly lines: readonly string[];
}

export type PlayOptions = StageOptions;

const minute = 60_000;
/** Longest time after the last fault until everything is as it should be, in ms. */
const settlingTime = 25 * minute;
/** For so long nobody may do anything then, in ms. */
const silence = 6 * minute;

export async function play(scenario: Scenario, options: PlayOptions = {}): Promise<Outcome> {
  const stage = new Stage(scenario, options);
  stage.cluster.kubernetes.follow('ciliumnodes.cilium.io', (change) => agree(stage, change));
  stage.cluster.ec2.gateway.faults.onMet = (fault, action) => {
    const form =
      fault.kind === 'lost' ? `lost ${fault.effect}` : fault.kind === 'error' ? 'error' : fault.kind;
    stage.coverage.hit('cloud', form, action);
  };
  const ending = new AbortController();
  await begin(stage, ending.signal);
  const faults = await misfortunes(stage);
  endFaults(stage);
  ending.abort();
  await settle(stage);
  await stage.end();
  return {
    seed: scenario.seed,
    breaches: stage.judge.breaches,
    digest: stage.history.digest(),
    decisions: stage.history.decisionDigest(),
    decided: stage.history.decided,
    acts: stage.acts.end(),
    acted: stage.acts.kept,
    events: stage.events,
    mutations: stage.mutations,
    faults,
    nodes: scenario.nodes.length,
    lasted: stage.now,
    coverage: stage.coverage.cells,
    lines: stage.history.lines,
  };
}

async function begin(stage: Stage, signal: AbortSignal): Promise<void> {
  const { workload } = stage.cluster;
  const started = workload.start();
  await stage.clock.advance(1);
  await started;
  stage.startReplicas();
  if (stage.scenario.longestWait !== undefined) watchForLatePods(stage, stage.scenario.longestWait);
  for (const load of stage.scenario.workloads) stage.promise(workload.run(load, signal));
}

/** Returns how many faults there were. Ends early once something is found. */
async function misfortunes(stage: Stage): Promise<number> {
  const end = stage.scenario.minutes * minute;
  let faults = 0;
  for (const fault of stage.scenario.faults) {
    await stage.clock.runUntil(() => isDecided(stage), fault.at - stage.now);
    if (isDecided(stage)) return faults;
    await stage.clock.advance(Math.max(0, fault.at - stage.now));
    applyFault(stage, fault);
    faults++;
  }
  await stage.clock.runUntil(() => isDecided(stage), end - stage.now);
  return faults + (await encore(stage, () => isDecided(stage)));
}

/** What is found once is enough. */
function isDecided({ judge }: Stage): boolean {
  return judge.breaches.length > 0;
}

async function settle(stage: Stage): Promise<void> {
  if (isDecided(stage)) return;
  const since = stage.now;
  const least = (stage.scenario.leastMinutes ?? 0) * minute;
  const isAsItShouldBe = (open: readonly Breach[]): boolean =>
    open.length === 0 && stage.now >= least && stage.now - Math.max(stage.lastActAt, since) > silence;
  let open: readonly Breach[] = [];
  do {
    await stage.clock.advance(minute / 2);
    if (isDecided(stage)) return;
    letWithdrawalsGo(stage, since);
    open = unsettled(stage);
  } while (!isAsItShouldBe(open) && stage.now <= Math.max(since + settlingTime, least));
  for (const breach of open) stage.judge.note(breach.invariant, breach.text);
  if (stage.now - stage.lastActAt <= silence) {
    stage.judge.note('not-silent', `the controller is still at work: ${stage.lastAct}`);
  }
}
