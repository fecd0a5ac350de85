// The mode of the command nodeipam: a block of a network for each Node, as kube-controller-manager gives it.
import { writeTimeoutOf } from '../../config/release-window.ts';
import { Allocator } from '../allocation/allocator.ts';
import { BlockLedger } from '../allocation/block-ledger.ts';
import { BlockOfEachFamily } from '../allocation/block-of-each-family.ts';
import { nodeHolder, NodeHolders } from '../node-ipam/node-holders.ts';
import { blockSettings } from '../settings/block-pools.ts';
import { nodesPath } from '../../kubernetes/node/node-blocks.ts';
import { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import { HostedMode } from './block-mode.ts';
import { HolderWatch } from './block-watch.ts';
import { mayWrite } from './own-lease.ts';
import type { ModeDeps } from '../../controller/host.ts';

export function nodeIpamMode(deps: ModeDeps): HostedMode {
  const { options, clock } = deps.host;
  const objects = new HolderWatch(deps, 'Nodes', { path: nodesPath, transform: nodeHolder });
  const writer = new NodeWriter(deps.kubernetes, () => mayWrite(deps), writeTimeoutOf(options));
  const holders = new NodeHolders(writer, objects.reflector, clock);
  return new HostedMode(deps, {
    access: { mode: 'nodeipam' },
    objects,
    subjects: ({ name, uid }) => [{ kind: 'Node', name, uid }],
    eventReasons: { PodCIDRsExhausted: 'CIDRNotAvailable', WriteRefused: 'CIDRAssignmentFailed' },
    countsAsPeer: true,
    lead: (session) => {
      // No agent writes the pod CIDRs of a Node: they are held whole, however large they are.
      const ledger = BlockLedger.ofOnePool(blockSettings(options, 'nodeipam'), Infinity);
      const policy = new BlockOfEachFamily({
        ledger,
        writer: holders,
        words: { object: 'Node', moreBlocks: 'move to a larger --cluster-cidr' },
        canGrow: false,
        biggerShare: options.biggerBlocksShare,
      });
      session.begin(ledger, new Allocator(session, policy, holders), objects);
      return undefined;
    },
  });
}
