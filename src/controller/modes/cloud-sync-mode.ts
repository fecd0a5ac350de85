// The command nodeipam with IPAMFromCluster or IPAMFromCloud: the pod CIDR of each Node, and what a cloud routes to its instance,
// are brought into accord.
import { BlockLedger } from '../../cidr/allocation/block-ledger.ts';
import { onlyPool } from '../../cidr/allocation/block-of-each-family.ts';
import {
  type AliasDraft,
  type AliasHolder,
  aliasHolder,
  AliasNodeHolders,
} from '../../cidr/node-ipam/cloud/alias-node-holders.ts';
import type { CloudAliases } from '../../cidr/node-ipam/cloud/cloud-aliases.ts';
import { NodeSyncs } from '../../cidr/node-ipam/sync/node-syncs.ts';
import type { SyncMode } from '../../cidr/node-ipam/sync/sync-step.ts';
import { blockSettings } from '../../config/block-pools.ts';
import type { EventSubject } from '../../kubernetes/events/event-object.ts';
import { nodesPath } from '../../kubernetes/node/node-blocks.ts';
import { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import { aborted } from '../../runtime/race-abort.ts';
import type { BlockBook } from '../cidr-session.ts';
import type { AliasCloud, CloudDeps } from '../clouds/cloud.ts';
import { CidrMode, type CidrParts, type CidrPorts, writeTimeoutOf } from './cidr-mode.ts';
import type { ModeDeps } from './mode.ts';

/** What the mode uses of a cloud. */
export interface SyncedCloud extends Pick<AliasCloud, 'describe' | 'showCalls'> {
  readonly aliases: CloudAliases;
}

/** Reasons of Events, as kube-controller-manager has them. */
const eventReasons = {
  InvalidSyncMode: 'CloudCIDRAllocatorInvalidMode',
  PodCIDRMismatch: 'CloudCIDRAllocatorMismatch',
  PodCIDRUnreadable: 'CloudCIDRAllocatorInvalidPodCIDR',
  PodCIDRsExhausted: 'CIDRNotAvailable',
  ProviderIDUnreadable: 'CIDRNotAvailable',
  InstanceNotFound: 'CIDRNotAvailable',
  InstanceTerminated: 'CIDRNotAvailable',
  WriteRefused: 'CIDRAssignmentFailed',
} as const;

export function cloudSyncMode(
  deps: ModeDeps,
  mode: SyncMode,
  composeCloud: (deps: CloudDeps) => SyncedCloud,
): CidrMode<AliasHolder, AliasDraft> {
  return new CidrMode(deps, {
    served: 'Nodes',
    path: nodesPath,
    read: aliasHolder,
    compose: (given, ports) => new CloudSyncParts(given, ports, { mode, composeCloud }),
  });
}

interface SyncSetting {
  readonly mode: SyncMode;
  readonly composeCloud: (deps: CloudDeps) => SyncedCloud;
}

class CloudSyncParts implements CidrParts<AliasHolder, AliasDraft> {
  readonly access = { mode: 'nodeipam', setsConditions: true } as const;
  readonly holders: AliasNodeHolders;
  readonly eventReasons = eventReasons;
  readonly normalReasons = ['InvalidSyncMode', 'PodCIDRMismatch', 'PodCIDRUnreadable'] as const;
  readonly countsAsPeer = true;
  readonly watches = [];
  readonly background = [];
  readonly #deps: ModeDeps;
  readonly #mode: SyncMode;
  readonly #cloud: SyncedCloud;

  constructor(
    deps: ModeDeps,
    { observe, mayWrite }: CidrPorts<AliasHolder>,
    { mode, composeCloud }: SyncSetting,
  ) {
    this.#deps = deps;
    this.#mode = mode;
    const { host, kubernetes, leadership } = deps;
    const { options, clock, log, registry } = host;
    this.#cloud = composeCloud({ options, clock, log, metrics: registry.metrics, ...leadership });
    this.holders = new AliasNodeHolders({
      writer: new NodeWriter(kubernetes, mayWrite, writeTimeoutOf(options)),
      observe,
      wall: () => clock.wall(),
    });
  }

  openBook(): BlockBook<AliasHolder, AliasDraft> {
    const { options } = this.#deps.host;
    const { pools, reserved } = blockSettings(options, 'nodeipam');
    const ledger = new BlockLedger(pools.map((pool) => ({ pool: onlyPool, ...pool })));
    for (const cidr of reserved) ledger.reserve(cidr);
    return {
      ledger,
      openAllocator: (ports) =>
        new NodeSyncs(
          {
            settings: {
              mode: this.#mode,
              timeouts: {
                resync: options.nodeSyncResync,
                initialRetry: options.nodeSyncInitialRetry,
                maxBackoff: options.nodeSyncMaxBackoff,
              },
              workers: options.parallelAllocWorkers,
            },
            ledger,
            family: pools[0]?.cidr.family ?? 'ipv4',
            pool: onlyPool,
            aliases: this.#cloud.aliases,
            holders: this.holders,
            words: { object: 'Node', moreBlocks: 'move to a larger --cluster-cidr' },
          },
          ports,
        ),
    };
  }

  subjects({ name, uid }: AliasHolder): readonly EventSubject[] {
    return [{ kind: 'Node', name, uid }];
  }

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  async whileLeading(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps.host;
    log.info('comparing Nodes with what the cloud routes to their instances', await this.#cloud.describe());
    await aborted(signal);
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  show(): void {
    this.#cloud.showCalls();
  }
}
