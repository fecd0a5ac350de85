// The mode cluster-pool: a block of a network for each CiliumNode, as agents with ipam=cluster-pool read it.
import { type AskedMaskSizes, askedMaskSizes, maskSizeLabels } from '../allocation/asked-mask-size.ts';
import {
  type CiliumNodeHolder,
  clusterPoolHolder,
  podCidrsPatch,
} from '../cluster-pool/cilium-node-holders.ts';
import { type BlockLedger, maxBlocksOfHolder } from '../allocation/block-ledger.ts';
import { wideHoldings } from '../cluster-pool/first-held.ts';
import { type Cidr, cidrText } from '../set/cidr.ts';
import { blockSettings } from '../settings/block-pools.ts';
import type { AccessScope } from '../../kubernetes/access/needed-access.ts';
import { ciliumNodesPath } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import type { JsonObject } from '../../kubernetes/transport/json.ts';
import type { BlockBook } from './block-session.ts';
import { blockOfEachFamilyBook } from './block-book.ts';
import { BlockMode, type BlockPorts } from './block-mode.ts';
import { CiliumNodeParts } from './cilium-node-parts.ts';
import type { ModeDeps } from '../../controller/host.ts';

export function clusterPoolMode(deps: ModeDeps): BlockMode<CiliumNodeHolder, readonly string[]> {
  return new BlockMode(deps, {
    served: 'CiliumNodes',
    path: ciliumNodesPath,
    read: readerOf(deps),
    compose: (given, ports) => new ClusterPoolParts(given, ports),
  });
}

function readerOf({ host }: ModeDeps): (raw: JsonObject) => CiliumNodeHolder {
  return (raw) => clusterPoolHolder(raw, host.options.ipamDefaultIpPool);
}

class ClusterPoolParts extends CiliumNodeParts<CiliumNodeHolder, readonly string[]> {
  readonly access: AccessScope;

  constructor(deps: ModeDeps, ports: BlockPorts<CiliumNodeHolder>) {
    super(deps, ports, {
      read: readerOf(deps),
      specOf: podCidrsPatch,
      keptLabels: Object.values(maskSizeLabels),
    });
    const { nodesGcInterval, manageAgentTaint, skipCrdCreation, releasePodCheck } = deps.host.options;
    this.access = {
      mode: 'cluster-pool',
      gc: nodesGcInterval > 0,
      managesTaint: manageAgentTaint,
      createsDefinition: !skipCrdCreation,
      looksAtPods: releasePodCheck,
    };
  }

  openBook(): BlockBook<CiliumNodeHolder, readonly string[]> {
    const settings = blockSettings(this.deps.host.options, 'cluster-pool');
    const book = blockOfEachFamilyBook<CiliumNodeHolder>(settings, {
      words: {
        object: 'CiliumNode',
        moreBlocks: 'add a network to --cluster-pool-ipv4-cidr or --cluster-pool-ipv6-cidr',
      },
      canGrow: true,
      askedBy: (holder) => this.#askedBy(holder),
      biggerShare: this.deps.host.options.biggerBlocksShare,
      holdingsOn: (ledger) => this.openHoldings(ledger),
    });
    this.#holdFirst(book.ledger);
    return book;
  }

  #holdFirst(ledger: BlockLedger): void {
    const networks = ledger.figures().map(({ cidr, maskSize }) => `${cidrText(cidr)} ${maskSize}`);
    const blocksIn = (cidr: Cidr): number =>
      ledger.blocksIn(cidr).reduce((sum, { blocks }) => sum + blocks, 0);
    const most = Math.min(this.deps.host.options.maxBlocksWithoutNode, maxBlocksOfHolder);
    const shown = [...this.ports.known().values()].map(({ uid, blocks, alsoHeld = [] }) => ({
      uid,
      blocks: [...blocks, ...alsoHeld],
    }));
    this.holdFirst(ledger, networks.join(), wideHoldings(shown, blocksIn, most));
  }

  /** A CiliumNode that a Node owns has one, whether that one is seen already or not. */
  #askedBy({ name, nodeUid }: CiliumNodeHolder): AskedMaskSizes | 'unknown' {
    const node = this.nodes.nodes.get(name);
    if (node !== undefined && (nodeUid ?? node.uid) === node.uid)
      return askedMaskSizes((label) => node.labels?.[label]);
    return nodeUid === undefined || this.nodes.problem !== undefined ? {} : 'unknown';
  }
}
