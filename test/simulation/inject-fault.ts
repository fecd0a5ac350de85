// What each kind of fault does to a simulated cluster.
import type { FaultEffect } from '../../src/simulator/kubernetes/faults/faults.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { foreignHand } from './external-changes.ts';
import { convert, grab, outlive, snatch, stall } from './handshake-faults.ts';
import { hostile } from './hostile-agent.ts';
import { kill } from './kill.ts';
import { emptyList } from './empty-list.ts';
import { reclaim, replace, retire } from './machines.ts';
import { mustKeepAgent, restrict } from './restrict.ts';
import type { ApiEffect, FaultKind, FaultPlan, InHandshake, WatchEffect } from './scenario.ts';
import { fragment, occupy } from './subnet-exhaustion.ts';
import type { Stage } from './harness.ts';
import { straggle } from './late-write.ts';
import { podSubnetIds } from './topology.ts';

type Plan<K extends FaultKind> = Extract<FaultPlan, { readonly kind: K }>;

type Appliers = { readonly [K in FaultKind]: (stage: Stage, plan: Plan<K>) => void };

/** Lets the fault begin now; what has an end ends by itself. */
export function applyFault(stage: Stage, plan: FaultPlan): void {
  const apply = appliers[plan.kind] as (stage: Stage, plan: FaultPlan) => void;
  stage.history.write(`fault ${JSON.stringify(plan)}`);
  apply(stage, plan);
}

/** Everything that a fault may have left in force is over. */
export function endFaults(stage: Stage): void {
  const { ec2, kubernetes } = stage.cluster;
  ec2.gateway.faults.clear();
  kubernetes.faults.clear();
  stage.tripwires.clear();
  stage.omissions.clear();
  stage.blindness.clear();
  stage.dismissPods();
  const { listingLagMs, visibilityDelayMs } = stage.scenario.cloud;
  ec2.network.consistency = {
    listingLagMs: { min: 0, max: listingLagMs },
    visibilityDelayMs: { min: 0, max: visibilityDelayMs },
    shortPages: 0,
  };
}

const appliers: Appliers = {
  cloud: ({ cluster }, { action, count, rate, fault }) => {
    cluster.ec2.gateway.faults.add({ action, count, rate, fault, match: {} });
  },
  'throttle-storm': (stage, { action, rate, for: ms }) => {
    const { faults } = stage.cluster.ec2.gateway;
    const id = faults.add({ action, rate, match: {}, fault: { kind: 'throttle' } });
    stage.clock.schedule(ms, () => faults.remove(id));
    stage.coverage.hit('throttle-storm', action);
  },
  'stale-listings': (stage, { lag, for: ms }) => {
    stage.coverage.hit('stale-listings');
    changeConsistency(stage, { listingLagMs: { min: lag / 2, max: lag } }, ms);
  },
  'torn-listings': (stage, { share, for: ms }) => {
    stage.coverage.hit('torn-listings');
    changeConsistency(stage, { shortPages: share }, ms);
  },
  'slow-visibility': (stage, { ms: delay, for: ms }) => {
    stage.coverage.hit('slow-visibility');
    changeConsistency(stage, { visibilityDelayMs: { min: delay / 2, max: delay } }, ms);
  },
  omission: (stage, plan) => {
    const facts = stage.nodeAt(plan.node);
    if (facts !== undefined) stage.omissions.arm(plan, facts.instanceId);
  },
  blind: (stage, plan) => {
    const end = stage.blindness.begin(plan);
    stage.coverage.hit('blind', plan.what);
    stage.clock.schedule(plan.for, end);
  },
  'forgotten-zone': (stage, { zone, for: ms }) => {
    stage.coverage.hit('forgotten-zone');
    for (const facts of machinesIn(stage, zone)) {
      stage.blindness.forget(facts.instanceId);
      stage.promise(reclaim(stage, facts, ms).then(() => replace(stage, facts, { sameName: false })));
    }
  },
  'scale-down': (stage, { share, for: ms }) => {
    stage.coverage.hit('scale-down');
    const names = stage.nodeNames.slice(0, Math.floor(stage.nodeNames.length * share));
    for (const name of names) {
      const facts = stage.cluster.workload.machineOf(name)?.facts;
      if (facts === undefined) continue;
      const gone = retire(stage, facts);
      stage.clock.schedule(ms, () =>
        stage.promise(gone.then(() => replace(stage, facts, { sameName: false }))),
      );
    }
  },
  foreign: (stage, { deed, node, pick }) => {
    const facts = stage.nodeAt(node);
    if (facts !== undefined) foreignHand(stage, facts, { deed, pick });
  },
  terminate: (stage, { node, during }) => {
    stage.tripwires.arm({
      call: during,
      phase: 'once it is sent',
      nth: Math.floor(node * 3),
      act: ({ input }) => {
        const facts = factsOfCall(stage, input);
        if (facts === undefined) return;
        stage.coverage.hit('terminate', during);
        stage.promise(reclaim(stage, facts, 5000).then(() => replace(stage, facts, { sameName: false })));
      },
    });
  },
  'replace-node': (stage, { node, sameName, gap, boot }) => {
    const facts = stage.nodeAt(node);
    if (facts === undefined) return;
    stage.coverage.hit('replace-node', sameName ? 'same name' : 'another name');
    stage.promise(
      retire(stage, facts).then(
        () =>
          new Promise<void>((resolve, reject) => {
            stage.clock.schedule(
              gap,
              () => void replace(stage, facts, { sameName, boot }).then(resolve, reject),
            );
          }),
      ),
    );
  },
  'zone-loss': (stage, { zone, for: ms }) => {
    stage.coverage.hit('zone-loss');
    for (const facts of machinesIn(stage, zone)) {
      const gone = reclaim(stage, facts, 5000);
      stage.clock.schedule(ms, () =>
        stage.promise(gone.then(() => replace(stage, facts, { sameName: false }))),
      );
    }
  },
  squeeze: (stage, { subnet, left, for: ms }) => {
    const giveBack = occupy(stage, subnetAt(stage, subnet), left);
    stage.coverage.hit('squeeze');
    stage.clock.schedule(ms, giveBack);
  },
  fragment: (stage, { subnet, whole, for: ms }) => {
    const giveBack = fragment(stage, subnetAt(stage, subnet), whole);
    stage.coverage.hit('fragment');
    stage.clock.schedule(ms, giveBack);
  },
  'restart-agent': (stage, plan) => {
    onNode(stage, plan, (name) => {
      stage.coverage.hit('restart-agent', stage.handshakeOf(name));
      stage.promise(stage.cluster.workload.restartAgent(name));
    });
  },
  'change-agent': (stage, plan) => {
    const { protocol } = plan;
    onNode(stage, plan, (name) => {
      if (protocol === 'multi-pool' && mustKeepAgent(stage, name)) return;
      stage.coverage.hit('change-agent', protocol, stage.handshakeOf(name));
      stage.promise(stage.cluster.workload.changeAgent(name, protocol));
    });
  },
  watch: (stage, { effect, times, ms }) => watchFaults[effect](stage, times, ms),
  api: (stage, { effect, method, path, times, ms }) => {
    stage.cluster.kubernetes.faults.inject({
      method,
      path: new RegExp(path),
      times,
      effect: apiEffect(effect, ms),
    });
    stage.coverage.hit('api', effect, method, path);
  },
  'api-away': (stage, { for: ms }) => {
    const { faults } = stage.cluster.kubernetes;
    faults.cutWatches();
    const back = faults.inject({ times: Infinity, effect: { kind: 'dropBefore' } });
    stage.clock.schedule(ms, back);
    stage.coverage.hit('api-away');
  },
  grab,
  snatch,
  convert,
  outlive,
  stall,
  straggle,
  'touch-node': (stage, { node, during, times }) => {
    stage.tripwires.arm({
      call: during,
      phase: 'before it is sent',
      nth: Math.floor(node * 5),
      times,
      act: ({ input }) => {
        const path = String(input['path']).replace(/\/status$/, '');
        stage.coverage.hit('touch-node', during);
        stage.touch(path);
      },
    });
  },
  hostile,
  restrict,
  'empty-list': emptyList,
  kill,
  freeze: (stage, { call, phase, ms }) => {
    stage.tripwires.arm({
      call,
      phase,
      nth: 0,
      act: ({ process }) => {
        stage.coverage.hit('freeze', call, phase);
        process.freeze();
        stage.clock.schedule(ms, () => process.thaw());
      },
    });
  },
  'clock-jump': (stage, { ms }) => {
    stage.coverage.hit('clock-jump', ms < 0 ? 'back' : 'ahead');
    stage.leader?.process.shiftWall(ms);
  },
  lease: (stage, { deed }) => {
    stage.coverage.hit('lease', deed);
    stage.meddleWithLease(deed);
  },
  'restart-controller': (stage, { restartAfter }) => {
    const replica = stage.leader;
    if (replica === undefined) return;
    stage.coverage.hit('restart-controller');
    replica.stop();
    stage.clock.schedule(30_000 + restartAfter, () => stage.retire(replica, 0));
  },
};

function machinesIn(stage: Stage, zone: number): readonly NodeFacts[] {
  const { zones } = stage.scenario;
  const name = zones[Math.floor(zone * zones.length)]?.zone;
  const all = stage.nodeNames.flatMap((each) => stage.cluster.workload.machineOf(each)?.facts ?? []);
  return all.filter((facts) => facts.zone === name);
}

function factsOfCall(stage: Stage, input: Readonly<Record<string, unknown>>): ReturnType<Stage['nodeAt']> {
  return stage.cluster.workload.machineOf(stage.nodeOfCall(input))?.facts;
}

/** At once, or as soon as the handshake of a node is there. */
function onNode(
  stage: Stage,
  { node, handshake, phase }: { readonly node: number } & Partial<InHandshake>,
  act: (name: string) => void,
): void {
  if (handshake === undefined || phase === undefined) {
    const facts = stage.nodeAt(node);
    if (facts !== undefined) act(facts.name);
    return;
  }
  stage.tripwires.arm({
    call: 'patch status',
    phase,
    nth: Math.floor(node * 3),
    fits: ({ input }) => stage.handshakeOf(stage.nodeOfCall(input)) === handshake,
    act: ({ input }) => act(stage.nodeOfCall(input)),
  });
}

function subnetAt({ scenario }: Stage, share: number): string {
  const ids = podSubnetIds(scenario);
  return ids[Math.floor(share * ids.length)] ?? '';
}

function changeConsistency(
  { cluster, clock }: Stage,
  change: Partial<Stage['cluster']['ec2']['network']['consistency']>,
  ms: number,
): void {
  const { network } = cluster.ec2;
  const before = network.consistency;
  network.consistency = { ...before, ...change };
  const restored = Object.fromEntries(
    Object.keys(change).map((key) => [key, before[key as keyof typeof before]]),
  );
  clock.schedule(ms, () => {
    network.consistency = { ...network.consistency, ...restored };
  });
}

/**
 * How late agents hear, at most, in ms: one that takes an address more than a minute after it was hidden, and cannot say
 * so because it goes by an older object still, is beyond what the protocol of agents that are not asked can bear.
 */
const latestForAgents = 20_000;
/** An agent watches its own node alone. */
const watchesOfControllers = /^(?!.*fieldSelector).*watch=/;

const watchFaults: Readonly<Record<WatchEffect, (stage: Stage, times: number, ms: number) => void>> = {
  delay: ({ cluster, coverage }, times, ms) => {
    const path = ms > latestForAgents ? watchesOfControllers : /watch=/;
    cluster.kubernetes.faults.inject({ path, times, effect: { kind: 'delayEvents', ms } });
    coverage.hit('watch', 'delay');
  },
  duplicate: ({ cluster, coverage }, times) => {
    cluster.kubernetes.faults.inject({ path: /watch=/, times, effect: { kind: 'duplicateEvents' } });
    coverage.hit('watch', 'duplicate');
  },
  cut: ({ cluster, coverage }) => {
    cluster.kubernetes.faults.cutWatches();
    coverage.hit('watch', 'cut');
  },
  close: ({ cluster, coverage }) => {
    cluster.kubernetes.faults.closeWatches();
    coverage.hit('watch', 'close');
  },
  expire: ({ cluster, coverage }) => {
    cluster.kubernetes.faults.expireHistory();
    cluster.kubernetes.faults.cutWatches();
    coverage.hit('watch', 'expire');
  },
};

function apiEffect(effect: ApiEffect, ms: number): FaultEffect {
  const refuse = (code: number, reason: string): FaultEffect => ({
    kind: 'refuse',
    failure: { code, reason, message: `refused by the simulation with ${code}` },
  });
  switch (effect) {
    case 'conflict':
      return refuse(409, 'Conflict');
    case 'internal-error':
      return refuse(500, 'InternalError');
    case 'too-many':
      return refuse(429, 'TooManyRequests');
    case 'drop-before':
      return { kind: 'dropBefore' };
    case 'drop-after':
      return { kind: 'dropAfter' };
    case 'delay':
      return { kind: 'delay', ms };
  }
}
