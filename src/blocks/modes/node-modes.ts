// The modes of the command nodeipam, by --cidr-allocator-type: a block of a network for each Node, as kube-controller-manager
// gives it, or what a cloud routes to its instance.
import { writeTimeoutOf } from '../../config/release-window.ts';
import type { AliasCloud, CloudDeps } from '../../controller/clouds/cloud.ts';
import type { ModeDeps } from '../../controller/host.ts';
import { nodesPath } from '../../kubernetes/node/node-blocks.ts';
import { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { Allocator } from '../allocation/allocator.ts';
import type { Holder } from '../allocation/block-holders.ts';
import { BlockLedger } from '../allocation/block-ledger.ts';
import { BlockOfEachFamily } from '../allocation/block-of-each-family.ts';
import { AliasPolicy, cloudPool } from '../node-ipam/cloud/alias-policy.ts';
import { AliasReads } from '../node-ipam/cloud/alias-reads.ts';
import type { CloudAliases } from '../node-ipam/cloud/cloud-aliases.ts';
import { aliasHolder, nodeHolder, NodeHolders } from '../node-ipam/node-holders.ts';
import { NodeSyncs } from '../node-ipam/sync/node-syncs.ts';
import type { SyncMode } from '../node-ipam/sync/sync-step.ts';
import { blockSettings } from '../settings/block-pools.ts';
import { type BlockMode, HostedMode } from './block-mode.ts';
import { HolderWatch } from './block-watch.ts';
import { mayWrite } from './own-lease.ts';

/** A cloud, as far as both sides of it and Nodes are brought into accord. */
export interface SyncedCloud extends Pick<AliasCloud, 'describe' | 'showCalls'> {
  readonly aliases: CloudAliases;
}

const words = { object: 'Node', moreBlocks: 'move to a larger --cluster-cidr' } as const;

/** Reasons of Events, as kube-controller-manager has them. */
const [exhausted, refused, mismatch] = [
  { PodCIDRsExhausted: 'CIDRNotAvailable' },
  { WriteRefused: 'CIDRAssignmentFailed' },
  { PodCIDRMismatch: 'CloudCIDRAllocatorMismatch' },
] as const;
const unknownInstance = {
  ProviderIDUnreadable: 'CIDRNotAvailable',
  InstanceNotFound: 'CIDRNotAvailable',
  InstanceTerminated: 'CIDRNotAvailable',
} as const;

/** The Nodes of the cluster, and what every mode of theirs has in common. */
function partsOfNodes<H extends Holder>(deps: ModeDeps, transform: (raw: JsonObject) => H) {
  const objects = new HolderWatch(deps, 'Nodes', { path: nodesPath, transform });
  const timeout = writeTimeoutOf(deps.host.options);
  const writer = new NodeWriter(deps.kubernetes, () => mayWrite(deps), timeout);
  const holders = new NodeHolders(writer, objects.reflector, deps.host.clock);
  const subjects: BlockMode['subjects'] = ({ name, uid }) => [{ kind: 'Node', name, uid }];
  return { objects, holders, common: { objects, subjects, countsAsPeer: true } as const };
}

/** The same where Nodes follow a cloud. */
function partsOfCloud<C extends SyncedCloud | AliasCloud>(deps: ModeDeps, compose: (deps: CloudDeps) => C) {
  const cloud = compose({ ...deps.host, metrics: deps.host.registry.metrics, ...deps.leadership });
  const { common, ...parts } = partsOfNodes(deps, aliasHolder);
  const ofCloud = {
    ...common,
    access: { mode: 'nodeipam', setsConditions: true },
    isOfCloud: true,
    show: () => cloud.showCalls(),
  } as const;
  return { ...parts, cloud, common: ofCloud };
}

/** No agent writes the pod CIDRs of a Node: they are held whole, however large they are. */
function wholeLedger(settings: ReturnType<typeof blockSettings>): BlockLedger {
  return BlockLedger.ofOnePool(settings, Infinity);
}

export function nodeIpamMode(deps: ModeDeps): HostedMode {
  const { options } = deps.host;
  const { objects, holders, common } = partsOfNodes(deps, nodeHolder);
  return new HostedMode(deps, {
    ...common,
    access: { mode: 'nodeipam' },
    eventReasons: { ...exhausted, ...refused },
    lead: (session) => {
      const ledger = wholeLedger(blockSettings(options, 'nodeipam'));
      const { biggerBlocksShare: biggerShare } = options;
      const policy = new BlockOfEachFamily({ ledger, writer: holders, words, canGrow: false, biggerShare });
      session.begin(ledger, new Allocator(session, policy, holders), objects);
      return undefined;
    },
  });
}

/** With CloudAllocator: the pod CIDRs of a Node are what a cloud routes to its instance. */
export function cloudAllocatorMode(deps: ModeDeps, compose: (deps: CloudDeps) => AliasCloud): HostedMode {
  const { options, clock, random, onBug, log } = deps.host;
  const { objects, holders, cloud, common } = partsOfCloud(deps, compose);
  const ports = { clock, random: random.fork('aliases'), onBug };
  const reads = new AliasReads(ports, cloud.aliases, () => objects.allocator?.resume());
  return new HostedMode(deps, {
    ...common,
    eventReasons: { ...unknownInstance, AliasMissing: 'CIDRNotAvailable', ...mismatch, ...refused },
    normalReasons: ['PodCIDRMismatch'],
    cloudPool,
    lead: async (session) => {
      const { reserved } = blockSettings(options, 'nodeipam');
      const ledger = new BlockLedger([]);
      const policy = new AliasPolicy({
        ledger,
        writer: holders,
        reads,
        families: [...new Set(reserved.map(({ family }) => family))],
        services: reserved,
        words: cloud.words,
      });
      session.begin(ledger, new Allocator(session, policy, holders), objects);
      log.info('reading what the cloud routes to the instances of Nodes', await cloud.describe());
      reads.beginAsking();
    },
    stop: (deadline) => reads.stop(deadline),
    cloud: () => ({ denied: cloud.denied(), buckets: cloud.buckets() }),
  });
}

/** With IPAMFromCluster or IPAMFromCloud: the pod CIDR of each Node, and what a cloud routes to its instance, are brought into accord. */
export function cloudSyncMode(
  deps: ModeDeps,
  mode: SyncMode,
  compose: (deps: CloudDeps) => SyncedCloud,
): HostedMode {
  const { options, log } = deps.host;
  const { objects, holders, cloud, common } = partsOfCloud(deps, compose);
  return new HostedMode(deps, {
    ...common,
    eventReasons: {
      InvalidSyncMode: 'CloudCIDRAllocatorInvalidMode',
      PodCIDRUnreadable: 'CloudCIDRAllocatorInvalidPodCIDR',
      ...unknownInstance,
      ...exhausted,
      ...mismatch,
      ...refused,
    },
    normalReasons: ['InvalidSyncMode', 'PodCIDRMismatch', 'PodCIDRUnreadable'],
    lead: async (session) => {
      const settings = blockSettings(options, 'nodeipam');
      const ledger = wholeLedger(settings);
      const { nodeSyncResync: resync, nodeSyncInitialRetry: initialRetry } = options;
      const timeouts = { resync, initialRetry, maxBackoff: options.nodeSyncMaxBackoff };
      const family = settings.pools[0]?.cidr.family ?? 'ipv4';
      const { aliases } = cloud;
      const syncs = new NodeSyncs({ mode, timeouts, ledger, family, aliases, holders, words }, session);
      session.begin(ledger, syncs, objects);
      log.info('comparing Nodes with what the cloud routes to their instances', await cloud.describe());
    },
  });
}
