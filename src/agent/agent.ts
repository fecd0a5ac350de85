// The agent of one node: puts its parts together, and runs them until it is stopped.
import { families } from '../cidr/set/cidr.ts';
import type { AgentSettings } from '../config/agent-settings.ts';
import type { KubernetesTransport } from '../kubernetes/transport/transport.ts';
import type { Logger } from '../observability/logger.ts';
import type { AgentMetrics, MetricRegistry } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import { aborted } from '../runtime/race-abort.ts';
import type { Random } from '../runtime/random.ts';
import { Answerer } from './cni/answer.ts';
import { deleteQueueOf, replayDeletes } from './cni/delete-queue.ts';
import { Verbs } from './cni/verbs.ts';
import type { Holdings } from './ipam/holdings.ts';
import { Ipam, type IpamEvent } from './ipam/ipam.ts';
import { BlockKeeper } from './own-node/block-keeper.ts';
import { OwnNode } from './own-node/own-node.ts';
import type { AddressRecord } from './record/record.ts';
import { openState } from './record/state-directory.ts';
import { Api } from './rest/api.ts';
import { ApiServer } from './rest/server.ts';
import { holdPath } from './rest/unix-socket.ts';

export interface AgentDeps {
  readonly settings: AgentSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: MetricRegistry<AgentMetrics>;
  /** Undefined with host-scope. */
  readonly kubernetes: KubernetesTransport | undefined;
  /** Throws what Node.js throws. */
  readonly readFile: (path: string) => string;
}

export type AgentEnd =
  | { readonly kind: 'stopped' }
  /** `problem` says what to do. */
  | { readonly kind: 'failed'; readonly problem: string };

/** Serves until `stop` aborts, or fails to start. */
export async function runAgent(deps: AgentDeps, stop: AbortSignal): Promise<AgentEnd> {
  const { stateDir, socketPath, bootIdFile } = deps.settings;
  const locks: (() => void)[] = [];
  try {
    for (const [path, option] of [
      [stateDir, 'state-dir'],
      [socketPath, 'socket-path'],
    ] as const) {
      const lock = await holdPath(path);
      if (lock.kind === 'taken')
        return { kind: 'failed', problem: `another agent uses ${path}: stop it, or set --${option}` };
      locks.push(lock.release);
    }
    const state = openState({ path: stateDir, bootIdFile });
    if (state.kind === 'unusable')
      return { kind: 'failed', problem: `cannot use the state directory ${stateDir}: ${state.problem}` };
    if (state.kind === 'damaged') {
      const remedy =
        'what pods hold is unknown; remove the pods of this node, or restart the machine, then remove the file';
      return { kind: 'failed', problem: `${state.problem}: ${remedy}` };
    }
    return await serve(deps, state, stop);
  } finally {
    for (const release of locks) release();
  }
}

interface State {
  readonly record: AddressRecord;
  readonly holdings: Holdings;
}

async function serve(deps: AgentDeps, { record, holdings }: State, stop: AbortSignal): Promise<AgentEnd> {
  const { settings, clock, random, log, registry, readFile } = deps;
  const ipam = new Ipam({
    clock,
    random: random.fork('ipam'),
    holdings,
    record: (change) => record.write(change),
    enabled: settings.enabled,
    onEvent: (event) => report(event, deps),
  });
  for (const ip of settings.excluded) ipam.excludeIP(ip, 'excluded');
  const keeper = new BlockKeeper({
    ipam,
    record,
    random,
    log,
    ranges: settings.ranges,
    follows: settings.mode !== 'host-scope',
  });
  keeper.start();
  ipam.start();
  const ownNode = ownNodeOf(deps, keeper);
  const waitingFor = (): string | undefined => whatIsMissing(ipam, settings, ownNode);
  const verbs = new Verbs({ ipam, clock, mayGrow: settings.mode !== 'host-scope', waitingFor, readFile });
  const answerer = new Answerer({
    verbs,
    clock,
    onAnswer: ({ verb, code, duration }) => {
      registry.metrics.headwater_agent_cni_requests_total.add({ verb, code });
      registry.metrics.headwater_agent_cni_request_duration_seconds.observe({ verb }, duration);
    },
  });
  registry.beforeScrape(() => {
    for (const { family, capacity } of ipam.figures()) {
      registry.metrics.cilium_ipam_capacity.set({ family }, capacity);
    }
  });
  const api = new Api({ ipam, answerer, waitingFor, metrics: registry, expiration: settings.expiration });
  const server = new ApiServer({ api, path: settings.socketPath, clock, log });
  const queue = deleteQueueOf(settings.socketPath);
  try {
    await replayDeletes(queue, answerer, log);
    const problem = await server.listen();
    if (problem !== undefined) return { kind: 'failed', problem };
    // The plugin writes a file, then looks for the agent once more: what it wrote until now is there.
    await replayDeletes(queue, answerer, log);
    const blocks = ipam.figures().flatMap(({ cidrs }) => cidrs);
    log.info('serving', { socket: settings.socketPath, blocks, addresses: holdings.size });
    await Promise.all([aborted(stop), ownNode?.run(stop)]);
    return { kind: 'stopped' };
  } finally {
    // Whatever the reason: what still answered without a record would lose addresses.
    await server.close();
    ipam.stop();
    record.close();
  }
}

function ownNodeOf(deps: AgentDeps, keeper: BlockKeeper): OwnNode | undefined {
  const { settings, clock, random, log, kubernetes: transport } = deps;
  const { mode: source, nodeName: name, createsCiliumNode: createsObject } = settings;
  if (transport === undefined || (source !== 'kubernetes' && source !== 'cluster-pool')) return undefined;
  const onBlocks = (shown: readonly string[]): void => keeper.take(shown);
  return new OwnNode({ source, name, transport, clock, random, log, createsObject, onBlocks });
}

/** Undefined once every family that is asked for has a block. */
function whatIsMissing(
  ipam: Ipam,
  { enabled }: AgentSettings,
  ownNode: OwnNode | undefined,
): string | undefined {
  const served = ipam.servedFamilies();
  const lacks = families.some((family) => enabled[family] === true && ipam.allocator(family) === undefined);
  return served.length > 0 && !lacks ? undefined : (ownNode?.missing ?? 'a range');
}

function report(event: IpamEvent, { log, registry }: AgentDeps): void {
  switch (event.kind) {
    case 'allocated':
    case 'released': {
      const action = event.kind === 'allocated' ? 'allocate' : 'release';
      registry.metrics.cilium_ipam_events_total.add({ action, family: event.family });
      return;
    }
    case 'expired':
      log.info('released an address after its expiration', { ip: event.ip, owner: event.owner });
      return;
    case 'notExpired': {
      const { ip, owner, problem } = event;
      log.warn('cannot release an address after its expiration', { ip, owner, problem });
    }
  }
}
