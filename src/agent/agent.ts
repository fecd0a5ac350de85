// The agent of one node: puts its parts together, and runs them until it is stopped.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentReport, agentReport } from './agent-report.ts';
import type { AgentSettings } from './agent-settings.ts';
import { isObject, type JsonObject } from '../runtime/json.ts';
import { LinkedAbort } from '../kubernetes/transport/linked-abort.ts';
import type { KubernetesTransport } from '../kubernetes/transport/transport.ts';
import type { Logger } from '../observability/logger.ts';
import type { AgentMetrics, MetricRegistry } from '../observability/metrics.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { aborted, untilAborted } from '../runtime/race-abort.ts';
import type { Random } from '../runtime/random.ts';
import { addressing } from './address-sources.ts';
import { Answerer } from './cni/answerer.ts';
import { DeleteQueue, deleteQueueOf } from './cni/delete-queue.ts';
import { Verbs } from './cni/verbs.ts';
import type { Holdings } from './ipam/holdings.ts';
import { families, only } from '../blocks/set/cidr.ts';
import type { PoolFigures } from './ipam/pools.ts';
import type { EventCounter } from './own-node/own-node.ts';
import { GonePods } from './evidence/gone-pods.ts';
import { rebuild } from './evidence/rebuild.ts';
import { sandboxOf } from './evidence/sandboxes.ts';
import { Ipam, type IpamEvent } from './ipam/ipam.ts';
import { type NodePod, NodePods } from './metadata/node-pods.ts';
import { type AddressSource, runTogether } from './own-node/address-source.ts';
import { gatewaysInUse } from './own-node/block-router.ts';
import { lockPath } from './path-lock.ts';
import type { AddressRecord } from './record/address-record.ts';
import { freeReserves, isFull } from './record/reserve.ts';
import { openState } from './record/state-directory.ts';
import { Api } from './rest/api.ts';
import { ApiServer } from './rest/api-server.ts';

export interface AgentDeps {
  readonly settings: AgentSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: MetricRegistry<AgentMetrics>;
  /** Undefined with host-scope. */
  readonly kubernetes: KubernetesTransport | undefined;
  readonly machine: Machine;
  /** Called once calls are answered. */
  readonly onServing?: (report: () => AgentReport) => void;
}

/** The machine of the agent, as it reads it beside its own state. */
export interface Machine {
  /** Throws what Node.js throws. */
  readFile(path: string): string;
  /** Reads the file that `ipam.resolvConf` names. Rejects with why it cannot be read. */
  readDnsFile(path: string): Promise<string>;
  /** Names of the network namespaces of pods, as far as they can be seen. */
  sandboxes(): readonly string[];
}

export type AgentEnd =
  | { readonly kind: 'stopped' }
  /** Did not start; `problem` says what to do. */
  | { readonly kind: 'failed'; readonly problem: string }
  /** Served until its files were gone, and has said so. */
  | { readonly kind: 'lost' };

/** Serves until `stop` aborts, or fails to start. */
export async function runAgent(deps: AgentDeps, stop: AbortSignal): Promise<AgentEnd> {
  const { stateDir, socketPath, bootIdFile, nodeName: node } = deps.settings;
  const locks: (() => void)[] = [];
  try {
    for (const [path, option, lockAt, mode, makeRoom] of [
      [stateDir, 'state-dir', join(stateDir, 'lock'), 0o700, () => freeReserves(stateDir)],
      [socketPath, 'socket-path', `${socketPath}.lock`, 0o755, undefined],
    ] as const) {
      const lock = await lockPath(lockAt, mode, makeRoom);
      if (lock.kind === 'taken')
        return { kind: 'failed', problem: `another agent uses ${path}: stop it, or set --${option}` };
      if (lock.kind === 'failed') {
        const remedy = isFull(lock.error) ? 'make room on its disk' : `set --${option}`;
        return { kind: 'failed', problem: `cannot use ${path}: ${lock.error.message}; ${remedy}` };
      }
      locks.push(lock.release);
    }
    const queue = makeDirectory(deleteQueueOf(socketPath).directory);
    if (queue !== undefined) return { kind: 'failed', problem: queue };
    const canRebuild = deps.kubernetes !== undefined;
    const lives = (netns: string): boolean => deps.machine.sandboxes().includes(sandboxOf(netns) ?? '');
    const state = openState({ path: stateDir, bootIdFile, node, canRebuild, lives });
    if (state.kind === 'unusable')
      return { kind: 'failed', problem: `cannot use the state directory ${stateDir}: ${state.problem}` };
    if (state.kind === 'damaged') {
      const remedy =
        'what pods hold is unknown; remove the pods of this node, or restart the machine, then remove the file';
      return { kind: 'failed', problem: `${state.problem}: ${remedy}` };
    }
    const open = (api: Api): Entrance =>
      new ApiServer({ api, path: socketPath, clock: deps.clock, log: deps.log });
    return await serve(deps, state, open, stop);
  } finally {
    for (const release of locks) release();
  }
}

/** The plugin makes it only in the run directory. Returns what prevents it. */
function makeDirectory(path: string): string | undefined {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return undefined;
  } catch (error) {
    return `cannot make the directory ${path}: ${(error as Error).message}; set --socket-path`;
  }
}

/** The state that survived the last agent. */
export interface AgentState {
  readonly record: AddressRecord;
  readonly holdings: Holdings;
}

/** Where calls come from. */
export interface Entrance {
  /** Returns what prevents it. */
  listen(): Promise<string | undefined>;
  /** Why calls come in no longer. */
  lost(): string | undefined;
  /** Resolves once nothing is answered any longer. */
  close(): Promise<void>;
}

/** Serves until `stop` aborts; holds no lock. */
export async function serve(
  deps: AgentDeps,
  { record, holdings }: AgentState,
  open: (api: Api) => Entrance,
  stop: AbortSignal,
): Promise<AgentEnd> {
  const { settings, clock, random, log, registry, machine, kubernetes: transport } = deps;
  const spec = specOf(deps);
  if (typeof spec === 'string') return { kind: 'failed', problem: spec };
  let source: AddressSource | undefined;
  const pods = podsOf(deps, holdings, () => ipam.retry());
  const { directory, source: sourceOf } = addressing({
    settings,
    holdings,
    transport,
    pods,
    spec,
    surroundings: { clock, random, log, onEvent: count(deps) },
    onPools: () => {
      source?.refresh();
      ipam.retry();
    },
  });
  const ipam = new Ipam({
    clock,
    random: random.fork('ipam'),
    holdings,
    record,
    pools: { enabled: settings.enabled, directory },
    cooldown: settings.cooldown,
    isShown: (ip) => pods?.shows(ip) === true,
    onEvent: (event) => {
      report(event, deps);
      source?.notice(event);
    },
  });
  for (const each of settings.excluded) ipam.pools.exclude({ ...each, owner: 'excluded' });
  for (const each of gatewaysInUse(holdings)) ipam.pools.exclude({ network: only(each), owner: 'router' });
  source = sourceOf(ipam);
  ipam.start();
  const waitingFor = (): string | undefined => whatIsMissing(ipam, settings, { source, pods });
  const gone = pods && new GonePods({ ipam, pods, clock, log });
  const mayGrow = settings.mode !== 'host-scope';
  const verbs = new Verbs({
    ipam,
    clock,
    mayGrow,
    waitingFor,
    readDnsFile: (path) => machine.readDnsFile(path),
  });
  const answerer = new Answerer(verbs, clock, ({ verb, code, duration }) => {
    registry.metrics.headwater_agent_cni_requests_total.add({ verb, code });
    registry.metrics.headwater_agent_cni_request_duration_seconds.observe({ verb }, duration);
  });
  registry.beforeScrape(() => setGauges(ipam.figures(), deps));
  const queue = new DeleteQueue(deleteQueueOf(settings.socketPath), answerer, log);
  const api = new Api({
    isDelegated: settings.mode === 'delegated-plugin',
    isSuspected: (attachment) => gone?.isSuspected(attachment) === true,
    clock,
    ipam,
    answerer: queue,
    waitingFor,
    metrics: registry,
    expiration: settings.expiration,
  });
  const server = open(api);
  const ended = new LinkedAbort(stop);
  try {
    await queue.replay();
    const problem = await server.listen();
    if (problem !== undefined) return { kind: 'failed', problem };
    // The plugin writes a file, then looks for the agent once more: what it wrote until now is there.
    await queue.replay();
    const replays = (own: AbortSignal): Promise<void> => queue.run(clock, own);
    const blocks = ipam.figures().flatMap(({ cidrs }) => cidrs);
    deps.onServing?.(() => agentReport(settings, ipam, { waitingFor: waitingFor(), problem: record.full() }));
    log.info('serving', { socket: settings.socketPath, blocks, addresses: holdings.size });
    const parts = [source, pods, gone].filter((part) => part !== undefined);
    const runs = parts.map((part) => (own: AbortSignal) => part.run(own));
    const learns = (own: AbortSignal): Promise<void> => learn(deps, { ipam, pods, source }, own);
    const checks = [() => server.lost(), () => record.lost()];
    let lost: string | undefined;
    const watch = async (own: AbortSignal): Promise<void> => {
      lost = await lostFile(checks, clock, own);
      ended.abort();
    };
    await runTogether([(own) => aborted(own), learns, replays, watch, ...runs], ended.signal);
    if (lost === undefined) return { kind: 'stopped' };
    log.error('a file of the agent is gone, exiting', { problem: lost });
    return { kind: 'lost' };
  } finally {
    // Whatever the reason: what still answered without a record would lose addresses.
    await server.close();
    ended.release();
    ipam.stop();
    record.close();
  }
}

/** The rest of the spec of a CiliumNode that is created, or what is wrong with its file. */
function specOf({ settings, machine }: AgentDeps): JsonObject | string {
  const { ciliumNodeSpec: path } = settings;
  if (path === undefined) return {};
  const refusal = (why: string): string => `cannot use ${path}, which --cilium-node-spec names: ${why}`;
  try {
    const spec: unknown = JSON.parse(machine.readFile(path));
    return isObject(spec) ? spec : refusal('it is no JSON object');
  } catch (error) {
    return refusal((error as Error).message);
  }
}

/** Undefined with host-scope, which knows no pods. */
function podsOf(deps: AgentDeps, holdings: Holdings, onChange: () => void): NodePods | undefined {
  const { kubernetes: transport, settings, clock, log } = deps;
  if (transport === undefined || settings.mode === 'delegated-plugin') return undefined;
  const surroundings = { transport, clock, random: deps.random.fork('pods'), log, onEvent: count(deps) };
  return new NodePods(settings.nodeName, surroundings, {
    onChange,
    onNew: (pod) => {
      const { cilium_k8s_event_lag_seconds: lag } = deps.registry.metrics;
      lag.set({ source: 'k8s' }, lagOf(pod, holdings, clock.wall()) / 1000);
    },
  });
}

/** For how many ms a pod that now appears has had its addresses. */
function lagOf({ key, uids }: NodePod, holdings: Holdings, now: number): number {
  const starts = [...holdings.attachments()]
    .filter(({ owner, uid }) => owner === key && (uid === undefined || uids.includes(uid)))
    .map(({ since }) => since);
  return Math.max(0, now - Math.min(now, ...starts));
}

interface Learning {
  readonly ipam: Ipam;
  readonly pods: NodePods | undefined;
  readonly source: AddressSource | undefined;
}

/** Learns from pods what the record has lost, before anything is written that depends on it. */
async function learn(
  { clock, log, machine }: AgentDeps,
  { ipam, pods, source }: Learning,
  signal: AbortSignal,
): Promise<void> {
  if (pods === undefined || source === undefined) return;
  const sandboxes = (): readonly string[] => machine.sandboxes();
  await rebuild({ ipam, pods, clock, log }, sandboxes, source.synced, signal);
  source.update();
}

/** Undefined once all pools that are held in advance, or the default one, have addresses of each of their families. */
function whatIsMissing(
  ipam: Ipam,
  { mode, preAllocation }: AgentSettings,
  { source, pods }: Omit<Learning, 'ipam'>,
): string | undefined {
  if (mode === 'delegated-plugin') return undefined;
  if (ipam.holdings.isRebuilding)
    return `the pods of this node, whose addresses a damaged record has lost${pods?.problem === undefined ? '' : `: ${pods.problem}`}`;
  const pools = mode === 'multi-pool' ? [...preAllocation.keys()] : [ipam.pools.defaultPool];
  const isServed = (pool: string): boolean => {
    const served = ipam.pools.servedFamilies(pool);
    return served.length > 0 && served.every((family) => ipam.pools.allocator(family, pool) !== undefined);
  };
  return pools.every(isServed) ? undefined : (source?.missing ?? 'a range');
}

function setGauges(figures: readonly PoolFigures[], { registry, settings }: AgentDeps): void {
  const { metrics } = registry;
  for (const family of families) {
    const ofFamily = figures.filter((each) => each.family === family);
    const capacity = ofFamily.reduce((sum, each) => sum + each.capacity, 0);
    if (ofFamily.length > 0) metrics.cilium_ipam_capacity.set({ family }, capacity);
  }
  if (settings.mode !== 'multi-pool' && settings.protocol !== 'pools') return;
  for (const { pool, family, capacity, used, needed, cidrs } of figures) {
    const labels = { pool, family };
    metrics.cilium_ipam_multipool_available_ips.set(labels, capacity);
    metrics.cilium_ipam_multipool_used_ips.set(labels, used);
    metrics.cilium_ipam_multipool_needed_ips.set(labels, needed);
    metrics.cilium_ipam_multipool_allocated_blocks.set(labels, cidrs.length);
  }
}

function count({ registry }: AgentDeps): EventCounter {
  const { cilium_kubernetes_events_received_total: received, cilium_kubernetes_events_total: taken } =
    registry.metrics;
  return (scope, action) => {
    received.add({ scope, action, valid: 'true', equal: 'false' });
    taken.add({ scope, action, status: 'success' });
  };
}

function report(event: IpamEvent, { log, registry }: AgentDeps): void {
  switch (event.kind) {
    case 'allocated':
    case 'released': {
      const action = event.kind === 'allocated' ? 'allocate' : 'release';
      registry.metrics.cilium_ipam_events_total.add({ action, family: event.family });
      return;
    }
    case 'refused':
      return; // the answer to the request says it
    case 'expired':
      log.info('released an address after its expiration', { ip: event.ip, owner: event.owner });
      return;
    case 'notExpired': {
      const { ip, owner, problem } = event;
      log.warn('cannot release an address after its expiration', { ip, owner, problem });
    }
  }
}

/** Between two looks at the files of the agent, in ms. */
const lookInterval = 30_000;

/**
 * Notices that the files of an agent are gone, or are those of another one. Without its socket no call comes in; without its
 * record a restart would give out what pods hold. The agent then ends, so that what supervises it starts it anew. Resolves to what
 * is lost; to nothing once `signal` aborts.
 */
export function lostFile(
  checks: readonly (() => string | undefined)[],
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  return untilAborted(signal, async () => {
    for (;;) {
      await sleep(clock, lookInterval, signal);
      const [lost] = checks.flatMap((check) => check() ?? []);
      if (lost !== undefined) return lost;
    }
  });
}
