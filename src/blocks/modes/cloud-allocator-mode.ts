// The command nodeipam with CloudAllocator: the pod CIDRs of a Node are what a cloud routes to its instance.
import { writeTimeoutOf } from '../../config/release-window.ts';
import { Allocator } from '../allocation/allocator.ts';
import { BlockLedger } from '../allocation/block-ledger.ts';
import { AliasPolicy, cloudPool } from '../node-ipam/cloud/alias-policy.ts';
import { AliasReads } from '../node-ipam/cloud/alias-reads.ts';
import { type AliasHolder, aliasHolder, NodeHolders } from '../node-ipam/node-holders.ts';
import { blockSettings } from '../settings/block-pools.ts';
import type { EventSubject } from '../../kubernetes/events/event-object.ts';
import { nodesPath } from '../../kubernetes/node/node-blocks.ts';
import { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import type { CloudCallReport } from '../../controller/reporting/status-report.ts';
import type { AliasCloud, CloudDeps } from '../../controller/clouds/cloud.ts';
import { type BlockMode, HostedMode } from './block-mode.ts';
import type { BlockSession } from './block-session.ts';
import { HolderWatch } from './block-watch.ts';
import { mayWrite } from './own-lease.ts';
import type { ModeDeps } from '../../controller/host.ts';

/** Reasons of Events, as kube-controller-manager has them. */
const eventReasons = {
  AliasMissing: 'CIDRNotAvailable',
  ProviderIDUnreadable: 'CIDRNotAvailable',
  InstanceNotFound: 'CIDRNotAvailable',
  InstanceTerminated: 'CIDRNotAvailable',
  PodCIDRMismatch: 'CloudCIDRAllocatorMismatch',
  WriteRefused: 'CIDRAssignmentFailed',
} as const;

export function cloudAllocatorMode(
  deps: ModeDeps,
  composeCloud: (deps: CloudDeps) => AliasCloud,
): HostedMode {
  const { registry } = deps.host;
  const cloud = composeCloud({ ...deps.host, metrics: registry.metrics, ...deps.leadership });
  return new HostedMode(deps, new CloudAllocatorMode(deps, cloud));
}

class CloudAllocatorMode implements BlockMode {
  readonly access = { mode: 'nodeipam', setsConditions: true } as const;
  readonly objects: HolderWatch<AliasHolder>;
  readonly eventReasons = eventReasons;
  readonly normalReasons = ['PodCIDRMismatch'] as const;
  readonly countsAsPeer = true;
  readonly isOfCloud = true;
  readonly cloudPool = cloudPool;
  readonly #deps: ModeDeps;
  readonly #cloud: AliasCloud;
  readonly #reads: AliasReads;

  constructor(deps: ModeDeps, cloud: AliasCloud) {
    this.#deps = deps;
    this.#cloud = cloud;
    this.objects = new HolderWatch(deps, 'Nodes', { path: nodesPath, transform: aliasHolder });
    const { clock, random, onBug } = deps.host;
    const ports = { clock, random: random.fork('aliases'), onBug };
    this.#reads = new AliasReads(ports, cloud.aliases, () => this.objects.allocator?.resume());
  }

  async lead(session: BlockSession): Promise<void> {
    const { options, clock, log } = this.#deps.host;
    const { reserved } = blockSettings(options, 'nodeipam');
    const ledger = new BlockLedger([]);
    const writer = new NodeWriter(this.#deps.kubernetes, () => mayWrite(this.#deps), writeTimeoutOf(options));
    const holders = new NodeHolders(writer, this.objects.reflector, clock);
    const policy = new AliasPolicy({
      ledger,
      writer: holders,
      reads: this.#reads,
      families: [...new Set(reserved.map(({ family }) => family))],
      services: reserved,
      words: this.#cloud.words,
    });
    session.begin(ledger, new Allocator(session, policy, holders), this.objects);
    log.info('reading what the cloud routes to the instances of Nodes', await this.#cloud.describe());
    this.#reads.beginAsking();
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#reads.stop(deadline);
  }

  subjects({ name, uid }: AliasHolder): readonly EventSubject[] {
    return [{ kind: 'Node', name, uid }];
  }

  show(): void {
    this.#cloud.showCalls();
  }

  cloud(): CloudCallReport {
    return { denied: this.#cloud.denied(), buckets: this.#cloud.buckets() };
  }
}
