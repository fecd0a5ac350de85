// The command nodeipam with IPAMFromCluster or IPAMFromCloud: the pod CIDR of each Node, and what a cloud routes to its instance,
// are brought into accord.
import { BlockLedger } from '../allocation/block-ledger.ts';
import { onlyPool } from '../allocation/block-of-each-family.ts';
import type { AliasDraft, AliasHolder } from '../node-ipam/cloud/alias-node-holders.ts';
import type { CloudAliases } from '../node-ipam/cloud/cloud-aliases.ts';
import { NodeSyncs } from '../node-ipam/sync/node-syncs.ts';
import type { SyncMode } from '../node-ipam/sync/sync-step.ts';
import { blockSettings } from '../settings/block-pools.ts';
import { aborted } from '../../runtime/race-abort.ts';
import type { BlockBook } from './block-session.ts';
import type { AliasCloud, CloudDeps } from '../../controller/clouds/cloud.ts';
import { aliasMode, AliasParts } from './alias-parts.ts';
import type { BlockMode, BlockParts, BlockPorts } from './block-mode.ts';
import type { ModeDeps } from '../../controller/host.ts';

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
): BlockMode<AliasHolder, AliasDraft> {
  return aliasMode(deps, (given, ports) => new CloudSyncParts(given, ports, { mode, composeCloud }));
}

interface SyncSetting {
  readonly mode: SyncMode;
  readonly composeCloud: (deps: CloudDeps) => SyncedCloud;
}

class CloudSyncParts extends AliasParts<SyncedCloud> implements BlockParts<AliasHolder, AliasDraft> {
  readonly eventReasons = eventReasons;
  readonly normalReasons = ['InvalidSyncMode', 'PodCIDRMismatch', 'PodCIDRUnreadable'] as const;
  readonly #deps: ModeDeps;
  readonly #mode: SyncMode;

  constructor(deps: ModeDeps, ports: BlockPorts<AliasHolder>, { mode, composeCloud }: SyncSetting) {
    super(deps, ports, composeCloud);
    this.#deps = deps;
    this.#mode = mode;
  }

  openBook(): BlockBook<AliasHolder, AliasDraft> {
    const { options } = this.#deps.host;
    const { pools, reserved } = blockSettings(options, 'nodeipam');
    // No agent writes the pod CIDRs of a Node: they are held whole, however large they are.
    const ledger = new BlockLedger(
      pools.map((pool) => ({ pool: onlyPool, ...pool })),
      Infinity,
    );
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
            aliases: this.cloudInUse.aliases,
            holders: this.holders,
            words: { object: 'Node', moreBlocks: 'move to a larger --cluster-cidr' },
          },
          ports,
        ),
    };
  }

  async whileLeading(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps.host;
    log.info(
      'comparing Nodes with what the cloud routes to their instances',
      await this.cloudInUse.describe(),
    );
    await aborted(signal);
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
