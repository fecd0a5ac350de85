// Injects each kind of fault into a simulated cluster.
import type { FaultEffect } from '../../src/simulator/kubernetes/faults/faults.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { changeExternally } from './external-changes.ts';
import { convert, grab, outlive, snatch, stall } from './handshake-faults.ts';
import { hostile } from './hostile-agent.ts';
import { ipv6ByHand } from './ipv6-by-hand.ts';
import { kill } from './kill.ts';
import { emptyList } from './empty-list.ts';
import { reclaim, replace, retire } from './machines.ts';
import { writeMember } from './members-of-others.ts';
import { mustKeepAgent, restrict } from './restrict.ts';
import type { ApiEffect, FaultKind, FaultPlan, InHandshake, WatchEffect } from './scenario.ts';
import { fragment } from './subnet-exhaustion.ts';
import type { Harness } from './harness.ts';
import { lateWrite } from './late-write.ts';

type Plan<K extends FaultKind> = Extract<FaultPlan, { readonly kind: K }>;

type Injectors = { readonly [K in FaultKind]: (harness: Harness, plan: Plan<K>) => void };

/** Starts the fault now. A fault with a duration ends on its own. */
export function injectFault(harness: Harness, plan: FaultPlan): void {
  const inject = injectors[plan.kind] as (harness: Harness, plan: FaultPlan) => void;
  harness.history.write(`fault ${JSON.stringify(plan)}`);
  inject(harness, plan);
}

/** Ends every fault that may still be in force. */
export function endFaults(harness: Harness): void {
  const { network, kubernetes } = harness.cluster;
  harness.rig.faults.clear();
  harness.rig.restore();
  kubernetes.faults.clear();
  harness.failpoints.clear();
  harness.incompleteReads.clear();
  harness.outages.clear();
  harness.removeExtraPods();
  const { listingLagMs, visibilityDelayMs } = harness.scenario.cloud;
  network.consistency = {
    listingLagMs: { min: 0, max: listingLagMs },
    visibilityDelayMs: { min: 0, max: visibilityDelayMs },
    shortPages: 0,
  };
}

const injectors: Injectors = {
  cloud: ({ rig }, { action, count, rate, fault }) => {
    rig.faults.add({ action, count, rate, fault, match: {} });
  },
  'throttle-storm': (harness, { action, rate, for: ms }) => {
    const { faults } = harness.rig;
    const id = faults.add({ action, rate, match: {}, fault: { kind: 'throttle' } });
    harness.clock.schedule(ms, () => faults.remove(id));
    harness.coverage.hit('throttle-storm', action);
  },
  refusals: (harness, { action, code, status, for: ms }) => {
    const { faults } = harness.rig;
    const id = faults.add({
      action,
      rate: 1,
      match: {},
      fault: { kind: 'error', code, status, message: 'no' },
    });
    harness.clock.schedule(ms, () => faults.remove(id));
    harness.coverage.hit('refusals', action, code);
  },
  'slow-operations': (harness, { ms, for: lasting }) => {
    harness.rig.slowDown(ms);
    harness.clock.schedule(lasting, () => harness.rig.restore());
    harness.coverage.hit('slow-operations');
  },
  'stale-listings': (harness, { lag, for: ms }) => {
    harness.coverage.hit('stale-listings');
    changeConsistency(harness, { listingLagMs: { min: lag / 2, max: lag } }, ms);
  },
  'torn-listings': (harness, { share, for: ms }) => {
    harness.coverage.hit('torn-listings');
    changeConsistency(harness, { shortPages: share }, ms);
  },
  'slow-visibility': (harness, { ms: delay, for: ms }) => {
    harness.coverage.hit('slow-visibility');
    changeConsistency(harness, { visibilityDelayMs: { min: delay / 2, max: delay } }, ms);
  },
  omission: (harness, plan) => {
    const facts = harness.nodeAt(plan.node);
    if (facts !== undefined) harness.incompleteReads.arm(plan, facts.instanceId);
  },
  blind: (harness, plan) => {
    const end = harness.outages.begin(plan);
    harness.coverage.hit('blind', plan.what);
    harness.clock.schedule(plan.for, end);
    const { handover } = plan;
    if (handover === undefined) return;
    harness.clock.schedule(handover.after, () => {
      const stillHidden = harness.instancesWithSecondary().slice(0, handover.hidden);
      harness.outages.narrow(plan, new Set(stillHidden));
      if (harness.leader !== undefined) harness.retire(harness.leader, 2000);
    });
  },
  'forgotten-zone': (harness, { zone, for: ms }) => {
    harness.coverage.hit('forgotten-zone');
    for (const facts of machinesIn(harness, zone)) {
      harness.outages.forget(facts.instanceId);
      harness.runInBackground(
        reclaim(harness, facts, ms).then(() => replace(harness, facts, { sameName: false })),
      );
    }
  },
  'scale-down': (harness, { share, for: ms, nodesStayFor }) => {
    harness.coverage.hit('scale-down');
    const names = harness.nodeNames.slice(0, Math.floor(harness.nodeNames.length * share));
    for (const name of names) {
      const facts = harness.cluster.workload.machineOf(name)?.facts;
      if (facts === undefined) continue;
      const gone =
        nodesStayFor === undefined ? retire(harness, facts) : reclaim(harness, facts, nodesStayFor);
      harness.clock.schedule(ms, () =>
        harness.runInBackground(gone.then(() => replace(harness, facts, { sameName: false }))),
      );
    }
  },
  foreign: (harness, { deed, node, pick }) => {
    const facts = harness.nodeAt(node);
    if (facts !== undefined) changeExternally(harness, facts, { deed, pick });
  },
  terminate: (harness, { node, during }) => {
    harness.failpoints.arm({
      call: during,
      phase: 'once it is sent',
      nth: Math.floor(node * 3),
      run: ({ input }) => {
        const facts = factsOfCall(harness, input);
        if (facts === undefined) return;
        harness.coverage.hit('terminate', during);
        harness.runInBackground(
          reclaim(harness, facts, 5000).then(() => replace(harness, facts, { sameName: false })),
        );
      },
    });
  },
  'replace-node': (harness, { node, sameName, gap, boot }) => {
    const facts = harness.nodeAt(node);
    if (facts === undefined) return;
    harness.coverage.hit('replace-node', sameName ? 'same name' : 'another name');
    harness.runInBackground(
      retire(harness, facts).then(
        () =>
          new Promise<void>((resolve, reject) => {
            harness.clock.schedule(
              gap,
              () => void replace(harness, facts, { sameName, boot }).then(resolve, reject),
            );
          }),
      ),
    );
  },
  'zone-loss': (harness, { zone, for: ms }) => {
    harness.coverage.hit('zone-loss');
    for (const facts of machinesIn(harness, zone)) {
      const gone = reclaim(harness, facts, 5000);
      harness.clock.schedule(ms, () =>
        harness.runInBackground(gone.then(() => replace(harness, facts, { sameName: false }))),
      );
    }
  },
  squeeze: (harness, { subnet, left, for: ms }) => {
    const restore = harness.rig.occupy(subnetAt(harness, subnet), left);
    harness.coverage.hit('squeeze');
    harness.clock.schedule(ms, restore);
  },
  fragment: (harness, { subnet, whole, for: ms }) => {
    const restore = fragment(harness, subnetAt(harness, subnet), whole);
    harness.coverage.hit('fragment');
    harness.clock.schedule(ms, restore);
  },
  'restart-agent': (harness, plan) => {
    onNode(harness, plan, (name) => {
      harness.coverage.hit('restart-agent', harness.handshakeOf(name));
      harness.runInBackground(harness.cluster.workload.restartAgent(name));
    });
  },
  'change-agent': (harness, plan) => {
    const { protocol } = plan;
    onNode(harness, plan, (name) => {
      if (protocol === 'multi-pool' && mustKeepAgent(harness, name)) return;
      harness.coverage.hit('change-agent', protocol, harness.handshakeOf(name));
      harness.runInBackground(harness.cluster.workload.changeAgent(name, protocol));
    });
  },
  watch: (harness, { effect, times, ms }) => watchFaults[effect](harness, times, ms),
  api: (harness, { effect, method, path, times, ms }) => {
    harness.cluster.kubernetes.faults.inject({
      method,
      path: new RegExp(path),
      times,
      effect: apiEffect(effect, ms),
    });
    harness.coverage.hit('api', effect, method, path);
  },
  'api-away': (harness, { for: ms }) => {
    const { faults } = harness.cluster.kubernetes;
    faults.cutWatches();
    const back = faults.inject({ times: Infinity, effect: { kind: 'dropBefore' } });
    harness.clock.schedule(ms, back);
    harness.coverage.hit('api-away');
  },
  silence: ({ leader, coverage }, { way, requests }) => {
    if (leader === undefined) return;
    coverage.hit('silence', way);
    leader.connections.silence(way, requests);
  },
  grab,
  snatch,
  convert,
  outlive,
  stall,
  straggle: lateWrite,
  'ipv6-by-hand': ipv6ByHand,
  'member-of-others': writeMember,
  'touch-node': (harness, { node, during, times }) => {
    harness.failpoints.arm({
      call: during,
      phase: 'before it is sent',
      nth: Math.floor(node * 5),
      times,
      run: ({ input }) => {
        const path = String(input['path']).replace(/\/status$/, '');
        harness.coverage.hit('touch-node', during);
        harness.touch(path);
      },
    });
  },
  hostile,
  restrict,
  'empty-list': emptyList,
  forget: (harness, { node, for: ms }) => {
    const name = harness.nodeAt(node)?.name;
    if (name === undefined) return;
    const set = (isForgetful: boolean): void => {
      harness.cluster.workload.setForgetful(name, isForgetful);
      // An agent that is not asked writes when its pods come and go.
      harness.addExtraPods(name, 1);
    };
    set(true);
    harness.clock.schedule(ms, () => {
      if (harness.nodeNames.includes(name)) set(false);
    });
  },
  kill,
  freeze: (harness, { call, phase, ms }) => {
    harness.failpoints.arm({
      call,
      phase,
      nth: 0,
      run: ({ process }) => {
        harness.coverage.hit('freeze', call, phase);
        process.freeze();
        harness.clock.schedule(ms, () => process.thaw());
      },
    });
  },
  'clock-jump': (harness, { ms }) => {
    harness.coverage.hit('clock-jump', ms < 0 ? 'back' : 'ahead');
    harness.leader?.process.shiftWall(ms);
  },
  lease: (harness, { deed }) => {
    harness.coverage.hit('lease', deed);
    harness.tamperWithLease(deed);
  },
  'restart-controller': (harness, { restartAfter }) => {
    const replica = harness.leader;
    if (replica === undefined) return;
    harness.coverage.hit('restart-controller');
    replica.stop();
    harness.clock.schedule(30_000 + restartAfter, () => harness.retire(replica, 0));
  },
};

function machinesIn(harness: Harness, zone: number): readonly NodeFacts[] {
  const { zones } = harness.scenario;
  const name = zones[Math.floor(zone * zones.length)]?.zone;
  const all = harness.nodeNames.flatMap((each) => harness.cluster.workload.machineOf(each)?.facts ?? []);
  return all.filter((facts) => facts.zone === name);
}

function factsOfCall(
  harness: Harness,
  input: Readonly<Record<string, unknown>>,
): ReturnType<Harness['nodeAt']> {
  return harness.cluster.workload.machineOf(harness.nodeOfCall(input))?.facts;
}

/** Now, or once the node is in the state of the handshake. */
function onNode(
  harness: Harness,
  { node, handshake, phase }: { readonly node: number } & Partial<InHandshake>,
  action: (name: string) => void,
): void {
  if (handshake === undefined || phase === undefined) {
    const facts = harness.nodeAt(node);
    if (facts !== undefined) action(facts.name);
    return;
  }
  harness.failpoints.arm({
    call: 'patch status',
    phase,
    nth: Math.floor(node * 3),
    matches: ({ input }) => harness.handshakeOf(harness.nodeOfCall(input)) === handshake,
    run: ({ input }) => action(harness.nodeOfCall(input)),
  });
}

function subnetAt({ rig: { podSubnets: ids } }: Harness, share: number): string {
  return ids[Math.floor(share * ids.length)] ?? '';
}

function changeConsistency(
  { cluster, clock }: Harness,
  change: Partial<Harness['cluster']['network']['consistency']>,
  ms: number,
): void {
  const { network } = cluster;
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
 * Maximum event delay for agents, in ms. The protocol of agents that are not asked cannot tolerate an agent that takes
 * an address more than a minute after it was hidden and cannot report it because its copy is older.
 */
const maxAgentDelay = 20_000;
/** An agent watches its own node only. */
const watchesOfControllers = /^(?!.*fieldSelector).*watch=/;

const watchFaults: Readonly<Record<WatchEffect, (harness: Harness, times: number, ms: number) => void>> = {
  delay: ({ cluster, coverage }, times, ms) => {
    const path = ms > maxAgentDelay ? watchesOfControllers : /watch=/;
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
