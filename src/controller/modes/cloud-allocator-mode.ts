// The command nodeipam with CloudAllocator: the pod CIDRs of a Node are what a cloud routes to its instance.
import { BlockLedger } from '../../cidr/allocation/block-ledger.ts';
import { AliasAllotment, cloudPool } from '../../cidr/node-ipam/cloud/alias-allotment.ts';
import {
  type AliasDraft,
  type AliasHolder,
  aliasHolder,
  AliasNodeHolders,
} from '../../cidr/node-ipam/cloud/alias-node-holders.ts';
import { AliasReads } from '../../cidr/node-ipam/cloud/alias-reads.ts';
import { blockSettings } from '../../config/block-pools.ts';
import type { EventSubject } from '../../kubernetes/events/event-object.ts';
import { nodesPath } from '../../kubernetes/node/node-blocks.ts';
import { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import { aborted } from '../../runtime/race-abort.ts';
import type { BlockBook } from '../cidr-session.ts';
import type { CloudCallReport } from '../reporting/cidr-status-report.ts';
import type { AliasCloud, CloudDeps } from '../clouds/cloud.ts';
import { CidrMode, type CidrParts, type CidrPorts, writeTimeoutOf } from './cidr-mode.ts';
import type { ModeDeps } from './mode.ts';

/** The pod CIDRs, then the condition. */
const writesInARow = 2;

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
): CidrMode<AliasHolder, AliasDraft> {
  return new CidrMode(deps, {
    served: 'Nodes',
    path: nodesPath,
    read: aliasHolder,
    compose: (given, ports) => new CloudAllocatorParts(given, ports, composeCloud),
  });
}

class CloudAllocatorParts implements CidrParts<AliasHolder, AliasDraft> {
  readonly access = { mode: 'nodeipam', setsConditions: true } as const;
  readonly holders: AliasNodeHolders;
  readonly eventReasons = eventReasons;
  readonly countsAsPeer = true;
  readonly watches = [];
  readonly background = [];
  readonly #deps: ModeDeps;
  readonly #cloud: AliasCloud;
  readonly #reads: AliasReads;
  #allotment: AliasAllotment | undefined;

  constructor(
    deps: ModeDeps,
    { observe, mayWrite, resume }: CidrPorts<AliasHolder>,
    composeCloud: (deps: CloudDeps) => AliasCloud,
  ) {
    this.#deps = deps;
    const { host, kubernetes, leadership } = deps;
    const { options, clock, random, log, registry, onBug } = host;
    this.#cloud = composeCloud({ options, clock, log, metrics: registry.metrics, ...leadership });
    this.holders = new AliasNodeHolders({
      writer: new NodeWriter(kubernetes, mayWrite, writeTimeoutOf(options)),
      observe,
      wall: () => clock.wall(),
    });
    this.#reads = new AliasReads({
      aliases: this.#cloud.aliases,
      clock,
      random: random.fork('aliases'),
      onAnswers: resume,
      onBug,
    });
  }

  openBook(): BlockBook<AliasHolder, AliasDraft> {
    const { reserved } = blockSettings(this.#deps.host.options, 'nodeipam');
    const ledger = new BlockLedger([]);
    this.#allotment = new AliasAllotment({
      ledger,
      reads: this.#reads,
      families: [...new Set(reserved.map(({ family }) => family))],
      services: reserved,
      words: this.#cloud.words,
    });
    return { ledger, allotment: this.#allotment, writesInARow };
  }

  subjects({ name, uid }: AliasHolder): readonly EventSubject[] {
    return [{ kind: 'Node', name, uid }];
  }

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  async whileLeading(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps.host;
    log.info('reading what the cloud routes to the instances of Nodes', await this.#cloud.describe());
    this.#reads.begin();
    await aborted(signal);
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.#reads.stop(deadline);
  }

  show(): void {
    this.#cloud.showCalls();
    const { metrics } = this.#deps.host.registry;
    for (const [family, count] of this.#allotment?.waiting() ?? [])
      metrics.headwater_cidr_waiting_nodes.set({ pool: cloudPool, family }, count);
  }

  cloud(): CloudCallReport {
    return { denied: this.#cloud.denied(), buckets: this.#cloud.buckets() };
  }
}
