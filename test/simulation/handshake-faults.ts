// Faults that strike while an address is released, at the moment when the node needs it again.
import type { ReleaseState } from '../../src/kubernetes/cilium-node/cilium-node.ts';
import type { CallInProgress } from './process.ts';
import { detach } from '../../src/simulator/cloud/attachments.ts';
import { takeOnAzure } from './clouds/azure-changes.ts';
import { AzureRig } from './clouds/azure-rig.ts';
import { type Delay, delayAgentWatch, delayControllerWatches, maxAgentLag } from './delayed-watches.ts';
import { exemptAll, changeExternally } from './external-changes.ts';
import { patchedInterfaces, type ShownInterface } from './invariants/shown-node.ts';
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
  const { rig } = harness;
  const taking = rig instanceof AzureRig ? takingByHand(harness, rig) : detaching(harness);
  harness.failpoints.arm({
    call: 'patch status',
    phase: 'before it is sent',
    nth,
    matches: ({ input }) => taking(input) !== undefined,
    run: ({ input }) => {
      const name = harness.nodeOfCall(input);
      taking(input)?.();
      for (let wave = 2; wave < 11; wave++)
        harness.clock.schedule(wave * betweenWaves, () => {
          if (harness.nodeNames.includes(name)) harness.addExtraPods(name, pods);
        });
    },
  });
}

/** What takes from the cloud what a patch is about to hide; undefined if that cannot be taken. */
type Taking = (patch: CallInProgress['input']) => (() => void) | undefined;

function detaching(harness: Harness): Taking {
  const { network } = harness.cluster;
  return (patch) => {
    const [id = ''] = shrinkingInterfaces(harness, patch);
    const item = network.interfaces.get(id);
    const facts = harness.cluster.workload.machineOf(harness.nodeOfCall(patch))?.facts;
    if (item?.attachment?.status !== 'attached' || item.deviceIndex === 0) return undefined;
    const { id: attachmentId } = item.attachment;
    return () => {
      if (facts === undefined) return;
      harness.coverage.hit('snatch');
      exemptAll(harness, item);
      harness.checker.recordExternalLoss(facts.instanceId);
      detach(network, attachmentId);
    };
  };
}

/** Interfaces go with their VM there, so only addresses are taken. */
function takingByHand(harness: Harness, rig: AzureRig): Taking {
  return (patch) => {
    const facts = harness.cluster.workload.machineOf(harness.nodeOfCall(patch))?.facts;
    const hidden = addressesHidden(harness, patch);
    if (facts === undefined || hidden.size === 0) return undefined;
    return () => harness.runInBackground(takeOnAzure({ harness, rig, facts }, hidden));
  };
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
      // Long enough for frequent reads to detect a loss.
      delayAgentWatch(harness, name, state === 'refused' ? podArrivalTime : maxAgentLag);
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
  return shrinking(harness, input).map(({ id }) => id);
}

/** Single addresses that a patch removes from interfaces that stay. */
function addressesHidden(harness: Harness, input: CallInProgress['input']): ReadonlySet<string> {
  return new Set(
    shrinking(harness, input).flatMap(({ before, after }) =>
      (before.addresses ?? []).filter((address) => after.addresses?.includes(address) !== true),
    ),
  );
}

interface Shrinking {
  readonly id: string;
  readonly before: ShownInterface;
  readonly after: ShownInterface;
}

function shrinking(harness: Harness, input: CallInProgress['input']): readonly Shrinking[] {
  const { interfaces } = harness.shownOn(harness.nodeOfCall(input));
  const patched = patchedInterfaces(objectAt(bodyOf(input), 'status'));
  return Object.entries(patched).flatMap(([id, after]) => {
    if (after === null) return [];
    const before = interfaces[id] ?? {};
    const { addresses = [], prefixes = [] } = before;
    const isShrinking = isShorter(after.addresses, addresses) || isShorter(after.prefixes, prefixes);
    return isShrinking ? [{ id, before, after }] : [];
  });
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
