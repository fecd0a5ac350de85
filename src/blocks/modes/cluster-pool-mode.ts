// The mode cluster-pool: a block of a network for each CiliumNode, as agents with ipam=cluster-pool read it.
import { Allocator } from '../allocation/allocator.ts';
import { askedMaskSizes, maskSizeLabels } from '../allocation/asked-mask-size.ts';
import type { AskedMaskSizes, Holder } from '../allocation/block-holders.ts';
import { BlockLedger, maxBlocksOfHolder } from '../allocation/block-ledger.ts';
import { type AskingNodes, BlockOfEachFamily } from '../allocation/block-of-each-family.ts';
import { type CiliumNodeHolder, clusterPoolHolder } from '../cluster-pool/cilium-node-holders.ts';
import { wideHoldings } from '../cluster-pool/first-held.ts';
import { cidrText } from '../set/cidr.ts';
import { blockSettings } from '../settings/block-pools.ts';
import type { AccessScope } from '../../kubernetes/access/needed-access.ts';
import { ciliumNodesPath } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { HostedMode } from './block-mode.ts';
import type { BlockSession } from './block-session.ts';
import { HolderWatch } from './block-watch.ts';
import { CiliumNodeMode } from './cilium-node-mode.ts';
import { accessScope, type ModeDeps } from '../../controller/host.ts';

export function clusterPoolMode(deps: ModeDeps): HostedMode {
  const { ipamDefaultIpPool } = deps.host.options;
  const objects = new HolderWatch(deps, 'CiliumNodes', {
    path: ciliumNodesPath,
    transform: (raw) => clusterPoolHolder(raw, ipamDefaultIpPool),
  });
  return new HostedMode(deps, new ClusterPoolMode(deps, objects));
}

class ClusterPoolMode extends CiliumNodeMode implements AskingNodes {
  readonly access: AccessScope;
  readonly objects: HolderWatch<CiliumNodeHolder>;

  constructor(deps: ModeDeps, objects: HolderWatch<CiliumNodeHolder>) {
    super(deps, objects, Object.values(maskSizeLabels));
    this.objects = objects;
    this.access = accessScope('cluster-pool', deps.host.options);
  }

  lead(session: BlockSession, signal: AbortSignal): Promise<void> {
    const { options } = this.deps.host;
    const ledger = BlockLedger.ofOnePool(blockSettings(options, 'cluster-pool'));
    const policy = new BlockOfEachFamily({
      ...this.openHoldings(ledger),
      ledger,
      writer: this.holders,
      nodes: this,
      words: {
        object: 'CiliumNode',
        moreBlocks: 'add a network to --cluster-pool-ipv4-cidr or --cluster-pool-ipv6-cidr',
      },
      canGrow: true,
      biggerShare: options.biggerBlocksShare,
    });
    this.#holdFirst(ledger);
    session.begin(ledger, new Allocator(session, policy, this.holders), this.objects);
    return this.serveNodes(signal);
  }

  #holdFirst(ledger: BlockLedger): void {
    const networks = ledger.figures().map(({ cidr, maskSize }) => `${cidrText(cidr)} ${maskSize}`);
    const most = Math.min(this.deps.host.options.maxBlocksWithoutNode, maxBlocksOfHolder);
    const shown = [...this.objects.objects.values()].map(({ uid, blocks, alsoHeld = [] }) => ({
      uid,
      blocks: [...blocks, ...alsoHeld],
    }));
    this.holdFirst(ledger, networks.join(), wideHoldings(shown, ledger, most));
  }

  /** A CiliumNode that a Node owns has one, whether that one is seen already or not. */
  askedFor({ name, nodeUid }: Holder): AskedMaskSizes | 'unknown' {
    const node = this.nodes.nodes.get(name);
    if (node !== undefined && (nodeUid ?? node.uid) === node.uid)
      return askedMaskSizes((label) => node.labels?.[label]);
    return nodeUid === undefined || this.nodes.problem !== undefined ? {} : 'unknown';
  }
}
