// The command nodeipam with IPAMFromCluster or IPAMFromCloud: the pod CIDR of each Node, and what a cloud routes to its instance,
// are brought into accord.
import { writeTimeoutOf } from '../../config/release-window.ts';
import { BlockLedger } from '../allocation/block-ledger.ts';
import type { CloudAliases } from '../node-ipam/cloud/cloud-aliases.ts';
import { aliasHolder, NodeHolders } from '../node-ipam/node-holders.ts';
import { NodeSyncs } from '../node-ipam/sync/node-syncs.ts';
import type { SyncMode } from '../node-ipam/sync/sync-step.ts';
import { blockSettings } from '../settings/block-pools.ts';
import { nodesPath } from '../../kubernetes/node/node-blocks.ts';
import { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import type { AliasCloud, CloudDeps } from '../../controller/clouds/cloud.ts';
import { HostedMode } from './block-mode.ts';
import { HolderWatch } from './block-watch.ts';
import { mayWrite } from './own-lease.ts';
import type { ModeDeps } from '../../controller/host.ts';

/** A cloud, as far as the mode uses it. */
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
): HostedMode {
  const { options, clock, log, registry } = deps.host;
  const cloud = composeCloud({ ...deps.host, metrics: registry.metrics, ...deps.leadership });
  const objects = new HolderWatch(deps, 'Nodes', { path: nodesPath, transform: aliasHolder });
  const writer = new NodeWriter(deps.kubernetes, () => mayWrite(deps), writeTimeoutOf(options));
  const holders = new NodeHolders(writer, objects.reflector, clock);
  return new HostedMode(deps, {
    access: { mode: 'nodeipam', setsConditions: true },
    objects,
    subjects: ({ name, uid }) => [{ kind: 'Node', name, uid }],
    eventReasons,
    normalReasons: ['InvalidSyncMode', 'PodCIDRMismatch', 'PodCIDRUnreadable'],
    countsAsPeer: true,
    isOfCloud: true,
    show: () => cloud.showCalls(),
    lead: async (session) => {
      const settings = blockSettings(options, 'nodeipam');
      // No agent writes the pod CIDRs of a Node: they are held whole, however large they are.
      const ledger = BlockLedger.ofOnePool(settings, Infinity);
      const syncs = new NodeSyncs(
        {
          mode,
          timeouts: {
            resync: options.nodeSyncResync,
            initialRetry: options.nodeSyncInitialRetry,
            maxBackoff: options.nodeSyncMaxBackoff,
          },
          ledger,
          family: settings.pools[0]?.cidr.family ?? 'ipv4',
          aliases: cloud.aliases,
          holders,
          words: { object: 'Node', moreBlocks: 'move to a larger --cluster-cidr' },
        },
        session,
      );
      session.begin(ledger, syncs, objects);
      log.info('comparing Nodes with what the cloud routes to their instances', await cloud.describe());
    },
  });
}
