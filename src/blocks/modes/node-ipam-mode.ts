// The mode of the command nodeipam: a block of a network for each Node, as kube-controller-manager gives it.
import { writeTimeoutOf } from '../../config/release-window.ts';
import { type NodeHolder, nodeHolder, NodeHolders, writePodCidrs } from '../node-ipam/node-holders.ts';
import { blockSettings } from '../settings/block-pools.ts';
import { nodesPath } from '../../kubernetes/node/node-blocks.ts';
import { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import { aborted } from '../../runtime/race-abort.ts';
import { blockOfEachFamilyBook } from './block-book.ts';
import { BlockMode } from './block-mode.ts';
import type { ModeDeps } from '../../controller/host.ts';

export function nodeIpamMode(deps: ModeDeps): BlockMode<NodeHolder, readonly string[]> {
  return new BlockMode(deps, {
    served: 'Nodes',
    path: nodesPath,
    read: nodeHolder,
    compose: ({ host: { options }, kubernetes }, { observe, mayWrite }) => {
      const writer = new NodeWriter(kubernetes, mayWrite, writeTimeoutOf(options));
      return {
        access: { mode: 'nodeipam' },
        openBook: () =>
          blockOfEachFamilyBook(
            blockSettings(options, 'nodeipam'),
            {
              words: { object: 'Node', moreBlocks: 'move to a larger --cluster-cidr' },
              canGrow: false,
              askedBy: ({ askedMaskSizes }) => askedMaskSizes,
              biggerShare: options.biggerBlocksShare,
            },
            // No agent writes the pod CIDRs of a Node: they are held whole, however large they are.
            Infinity,
          ),
        holders: new NodeHolders({
          read: nodeHolder,
          writer,
          write: (holder, blocks, signal) => writePodCidrs(writer, holder, blocks, signal),
          observe,
        }),
        subjects: ({ name, uid }) => [{ kind: 'Node', name, uid }],
        eventReasons: { PodCIDRsExhausted: 'CIDRNotAvailable', WriteRefused: 'CIDRAssignmentFailed' },
        countsAsPeer: true,
        watches: [],
        prepare: () => Promise.resolve(),
        background: [],
        whileLeading: async (signal) => {
          await aborted(signal);
        },
        stop: () => Promise.resolve(),
        show: () => undefined,
      };
    },
  });
}
