// Faults that strike while an address is released, at the moment when the node needs it again.
import type { ReleaseState } from '../../src/kubernetes/cilium-node/cilium-node.ts';
import type { CallInProgress } from './ports.ts';
import { detach } from '../../src/simulator/cloud/attachments.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import { type Delay, delayAgentWatch, delayControllerWatches } from './delayed-watches.ts';
import { exemptAll, changeExternally } from './external-changes.ts';
import { patchedInterfaces } from './invariants/shown-node.ts';
import { kill } from './kill.ts';
import { type JsonObject, objectAt, parseObject } from '../../src/simulator/workload/json.ts';
import { mustKeepAgent } from './restrict.ts';
import type { FaultPlan } from './scenario.ts';
import type { Harness } from './harness.ts';

type Plan<K extends FaultPlan['kind']> = Extract<FaultPlan, { readonly kind: K }>;

/** In ms. */
const betweenWaves = 20_000;
/** What agents report reaches controllers later than the quarantine of an address ends. */
const reportsDelay: Delay = { ms: 130_000, during: 100_000 };
/** Long enough for frequent reads to detect a loss, in ms. */
const stallDelay = 170_000;
/** Longer than pods take to arrive, in ms. */
const podArrivalTime = 3000;

export function grab(harness: Harness, { nth, pods, lag, deaf }: Plan<'grab'>): void {
  harness.failpoints.arm({
    call: 'patch status',
    phase: 'before it is sent',
    nth,
    matches: ({ input }) =>
      shrinkingInterfaces(harness, input).length > 0 && protocolOf(harness, input) === 'multi-pool',
    run: ({ input }) => {
      const name = harness.nodeOfCall(input);
      harness.coverage.hit('grab', deaf ? 'deaf' : 'hearing');
      delayAgentWatch(harness, name, lag);
      if (deaf) delayControllerWatches(harness, reportsDelay);
      harness.addExtraPods(name, pods);
    },
  });
}

export function snatch(harness: Harness, { nth, pods }: Plan<'snatch'>): void {
  const { network } = harness.cluster;
  const shrinking = (input: CallInProgress['input']): NetworkInterface | undefined => {
    const [id = ''] = shrinkingInterfaces(harness, input);
    const item = network.interfaces.get(id);
    return item?.attachment?.status === 'attached' && item.deviceIndex !== 0 ? item : undefined;
  };
  harness.failpoints.arm({
    call: 'patch status',
    phase: 'before it is sent',
    nth,
    matches: ({ input }) => shrinking(input) !== undefined,
    run: ({ input }) => {
      const name = harness.nodeOfCall(input);
      const item = shrinking(input);
      const facts = harness.cluster.workload.machineOf(name)?.facts;
      if (item?.attachment === undefined || facts === undefined) return;
      harness.coverage.hit('snatch');
      exemptAll(harness, item);
      harness.checker.recordExternalLoss(facts.instanceId);
      detach(network, item.attachment.id);
      for (let wave = 2; wave < 11; wave++)
        harness.clock.schedule(wave * betweenWaves, () => {
          if (harness.nodeNames.includes(name)) harness.addExtraPods(name, pods);
        });
    },
  });
}

export function convert(harness: Harness, { nth, pods, hold }: Plan<'convert'>): void {
  harness.failpoints.arm({
    call: 'patch spec',
    phase: 'before it is sent',
    nth,
    matches: ({ input }) =>
      removesFromPool(input) &&
      protocolOf(harness, input) === 'crd-allocator' &&
      !mustKeepAgent(harness, harness.nodeOfCall(input)) &&
      harness.handshakeOf(harness.nodeOfCall(input)) === 'ready',
    run: ({ input }) => {
      const name = harness.nodeOfCall(input);
      harness.coverage.hit('convert');
      harness.coverage.hit('change-agent', 'multi-pool', 'ready');
      const over = harness.cluster.kubernetes.faults.inject({
        method: 'PATCH',
        path: new RegExp(`ciliumnodes/${name}$`),
        times: Infinity,
        effect: {
          kind: 'refuse',
          failure: { code: 500, reason: 'InternalError', message: 'refused by the simulation' },
        },
      });
      harness.clock.schedule(hold, over);
      harness.runInBackground(harness.cluster.workload.changeAgent(name, 'multi-pool'));
      harness.addExtraPods(name, pods);
    },
  });
}

export function stall(harness: Harness, { nth, state, call, phase, restartAfter }: Plan<'stall'>): void {
  harness.failpoints.arm({
    call: 'patch status',
    phase: 'before it is sent',
    nth,
    matches: ({ input }) => setsReleaseState(input, state === 'released' ? 'released' : 'marked-for-release'),
    run: ({ input }) => {
      const name = harness.nodeOfCall(input);
      harness.coverage.hit('stall', state);
      delayAgentWatch(harness, name, state === 'refused' ? podArrivalTime : stallDelay);
      if (state === 'refused') delayControllerWatches(harness, reportsDelay);
      if (state !== 'marked') harness.addExtraPods(name, 8);
      harness.clock.schedule(2 * podArrivalTime, () => {
        const facts = harness.cluster.workload.machineOf(name)?.facts;
        if (facts !== undefined) changeExternally(harness, facts, { deed: 'unassign-free', pick: 0.5 });
      });
      const isSame = (progress: CallInProgress): boolean => harness.nodeOfCall(progress.input) === name;
      kill(harness, { call, phase, nth: 0, restartAfter, handshake: state }, isSame);
    },
  });
}

export function outlive(harness: Harness, { nth, pods, ms }: Plan<'outlive'>): void {
  harness.failpoints.arm({
    call: 'read node',
    phase: 'before its answer is taken in',
    nth,
    matches: ({ input }) => ['hidden', 'ready'].includes(harness.handshakeOf(harness.nodeOfCall(input))),
    run: ({ process, input }) => {
      const name = harness.nodeOfCall(input);
      harness.coverage.hit('outlive');
      process.freeze();
      harness.clock.schedule(ms, () => process.thaw());
      harness.clock.schedule(ms * 0.6, () => {
        if (harness.nodeNames.includes(name)) harness.addExtraPods(name, pods);
      });
    },
  });
}

function protocolOf(harness: Harness, input: CallInProgress['input']): string | undefined {
  return harness.cluster.workload.machineOf(harness.nodeOfCall(input))?.protocol;
}

/** Interfaces from which a patch removes addresses or prefixes that the node shows. */
function shrinkingInterfaces(harness: Harness, input: CallInProgress['input']): readonly string[] {
  const { interfaces } = harness.shownOn(harness.nodeOfCall(input));
  const patched = patchedInterfaces(objectAt(bodyOf(input), 'status'));
  const shrinking = Object.entries(patched).filter(([id, patch]) => {
    if (patch === null) return false;
    const { addresses = [], prefixes = [] } = interfaces[id] ?? {};
    return isShorter(patch.addresses, addresses) || isShorter(patch.prefixes, prefixes);
  });
  return shrinking.map(([id]) => id);
}

function isShorter(patched: unknown, shown: readonly string[]): boolean {
  if (patched === undefined) return false;
  return (Array.isArray(patched) ? patched.length : 0) < shown.length;
}

function setsReleaseState(input: CallInProgress['input'], state: ReleaseState): boolean {
  return Object.values(objectAt(bodyOf(input), 'status', 'ipam', 'release-ips')).includes(state);
}

function removesFromPool(input: CallInProgress['input']): boolean {
  return Object.values(objectAt(bodyOf(input), 'spec', 'ipam', 'pool')).includes(null);
}

/** The body of a Kubernetes request. */
export function bodyOf({ body }: CallInProgress['input']): JsonObject {
  return parseObject(typeof body === 'string' ? body : '{}');
}
