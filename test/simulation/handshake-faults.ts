// Faults that strike where an address is about to be taken from a node, and needed there again at the same moment.
import type { ReleaseState } from '../../src/kubernetes/cilium-node/cilium-node.ts';
import type { CallInProgress } from './ports.ts';
import { detach } from '../../src/simulator/cloud/attachments.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import { excuseAll, foreignHand } from './external-changes.ts';
import { kill } from './kill.ts';
import { isObject, type JsonObject, objectAt, parseObject } from '../../src/simulator/workload/json.ts';
import { mustKeepAgent } from './restrict.ts';
import type { FaultPlan } from './scenario.ts';
import type { Stage } from './harness.ts';

type Plan<K extends FaultPlan['kind']> = Extract<FaultPlan, { readonly kind: K }>;

/** In ms. */
const betweenWaves = 20_000;
/** Longer than an address stays hidden from an agent that is not asked, in ms. */
const deafFor = 130_000;
/** Long enough for a loss to be found out meanwhile, where everything is read again often, in ms. */
const stalledFor = 170_000;
/** Longer than pods take to come, in ms. */
const shortly = 3000;

export function grab(stage: Stage, { nth, pods, lag, deaf }: Plan<'grab'>): void {
  stage.tripwires.arm({
    call: 'patch status',
    phase: 'before it is sent',
    nth,
    fits: ({ input }) =>
      shrinkingInterfaces(stage, input).length > 0 && protocolOf(stage, input) === 'multi-pool',
    act: ({ input }) => {
      const name = stage.nodeOfCall(input);
      stage.coverage.hit('grab', deaf ? 'deaf' : 'hearing');
      holdBack(stage, name, lag);
      if (deaf) deafen(stage);
      stage.addPods(name, pods);
    },
  });
}

export function snatch(stage: Stage, { nth, pods }: Plan<'snatch'>): void {
  const { network } = stage.cluster.ec2;
  const shrinking = (input: CallInProgress['input']): NetworkInterface | undefined => {
    const [id = ''] = shrinkingInterfaces(stage, input);
    const item = network.interfaces.get(id);
    return item?.attachment?.status === 'attached' && item.deviceIndex !== 0 ? item : undefined;
  };
  stage.tripwires.arm({
    call: 'patch status',
    phase: 'before it is sent',
    nth,
    fits: ({ input }) => shrinking(input) !== undefined,
    act: ({ input }) => {
      const name = stage.nodeOfCall(input);
      const item = shrinking(input);
      const facts = stage.cluster.workload.machineOf(name)?.facts;
      if (item?.attachment === undefined || facts === undefined) return;
      stage.coverage.hit('snatch');
      excuseAll(stage, item);
      stage.judge.noteLoss(facts.instanceId);
      detach(network, item.attachment.id);
      for (let wave = 2; wave < 11; wave++)
        stage.clock.schedule(wave * betweenWaves, () => {
          if (stage.nodeNames.includes(name)) stage.addPods(name, pods);
        });
    },
  });
}

/** What agents say does not reach the controllers for a while. */
function deafen(stage: Stage): void {
  const hear = stage.cluster.kubernetes.faults.inject({
    path: /ciliumnodes\?(?!.*fieldSelector).*watch=/,
    times: Infinity,
    effect: { kind: 'delayEvents', ms: deafFor },
  });
  stage.clock.schedule(deafFor - 30_000, hear);
}

export function convert(stage: Stage, { nth, pods, hold }: Plan<'convert'>): void {
  stage.tripwires.arm({
    call: 'patch spec',
    phase: 'before it is sent',
    nth,
    fits: ({ input }) =>
      strikesFromPool(input) &&
      protocolOf(stage, input) === 'crd-allocator' &&
      !mustKeepAgent(stage, stage.nodeOfCall(input)) &&
      stage.handshakeOf(stage.nodeOfCall(input)) === 'ready',
    act: ({ input }) => {
      const name = stage.nodeOfCall(input);
      stage.coverage.hit('convert');
      stage.coverage.hit('change-agent', 'multi-pool', 'ready');
      const over = stage.cluster.kubernetes.faults.inject({
        method: 'PATCH',
        path: new RegExp(`ciliumnodes/${name}$`),
        times: Infinity,
        effect: {
          kind: 'refuse',
          failure: { code: 500, reason: 'InternalError', message: 'refused by the simulation' },
        },
      });
      stage.clock.schedule(hold, over);
      stage.promise(stage.cluster.workload.changeAgent(name, 'multi-pool'));
      stage.addPods(name, pods);
    },
  });
}

export function stall(stage: Stage, { nth, state, call, phase, restartAfter }: Plan<'stall'>): void {
  stage.tripwires.arm({
    call: 'patch status',
    phase: 'before it is sent',
    nth,
    fits: ({ input }) => tells(input, state === 'released' ? 'released' : 'marked-for-release'),
    act: ({ input }) => {
      const name = stage.nodeOfCall(input);
      stage.coverage.hit('stall', state);
      holdBack(stage, name, state === 'refused' ? shortly : stalledFor);
      if (state === 'refused') deafen(stage);
      if (state !== 'marked') stage.addPods(name, 8);
      stage.clock.schedule(2 * shortly, () => {
        const facts = stage.cluster.workload.machineOf(name)?.facts;
        if (facts !== undefined) foreignHand(stage, facts, { deed: 'unassign-free', pick: 0.5 });
      });
      const isSame = (progress: CallInProgress): boolean => stage.nodeOfCall(progress.input) === name;
      kill(stage, { call, phase, nth: 0, restartAfter, handshake: state }, isSame);
    },
  });
}

/** What is written about a node right now is told to its agent so much later. */
function holdBack(stage: Stage, name: string, ms: number): void {
  const path = new RegExp(`ciliumnodes\\?.*${name}.*`);
  const effect = { kind: 'delayEvents', ms } as const;
  const over = stage.cluster.kubernetes.faults.inject({ path, times: Infinity, effect });
  stage.clock.schedule(1000, over);
}

export function outlive(stage: Stage, { nth, pods, ms }: Plan<'outlive'>): void {
  stage.tripwires.arm({
    call: 'read node',
    phase: 'before its answer is taken in',
    nth,
    fits: ({ input }) => ['hidden', 'ready'].includes(stage.handshakeOf(stage.nodeOfCall(input))),
    act: ({ process, input }) => {
      const name = stage.nodeOfCall(input);
      stage.coverage.hit('outlive');
      process.freeze();
      stage.clock.schedule(ms, () => process.thaw());
      stage.clock.schedule(ms * 0.6, () => {
        if (stage.nodeNames.includes(name)) stage.addPods(name, pods);
      });
    },
  });
}

function protocolOf(stage: Stage, input: CallInProgress['input']): string | undefined {
  return stage.cluster.workload.machineOf(stage.nodeOfCall(input))?.protocol;
}

/** Interfaces from which a patch takes addresses or prefixes that the node shows. */
function shrinkingInterfaces(stage: Stage, input: CallInProgress['input']): readonly string[] {
  const { interfaces } = stage.shownOn(stage.nodeOfCall(input));
  const patched = objectAt(bodyOf(input), 'status', 'eni', 'enis');
  const shrinking = Object.entries(patched).filter(([id, patch]) => {
    if (!isObject(patch)) return false;
    const { addresses = [], prefixes = [] } = interfaces[id] ?? {};
    return isShorter(patch['addresses'], addresses) || isShorter(patch['prefixes'], prefixes);
  });
  return shrinking.map(([id]) => id);
}

function isShorter(patched: unknown, shown: readonly string[]): boolean {
  if (patched === undefined) return false;
  return (Array.isArray(patched) ? patched.length : 0) < shown.length;
}

function tells(input: CallInProgress['input'], state: ReleaseState): boolean {
  return Object.values(objectAt(bodyOf(input), 'status', 'ipam', 'release-ips')).includes(state);
}

function strikesFromPool(input: CallInProgress['input']): boolean {
  return Object.values(objectAt(bodyOf(input), 'spec', 'ipam', 'pool')).includes(null);
}

/** What a call of Kubernetes carries. */
export function bodyOf({ body }: CallInProgress['input']): JsonObject {
  return parseObject(typeof body === 'string' ? body : '{}');
}
