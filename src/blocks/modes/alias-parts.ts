// What the modes have in common in which the pod CIDRs of Nodes follow a cloud: the Nodes, and the cloud.
import { writeTimeoutOf } from '../../config/release-window.ts';
import {
  type AliasDraft,
  type AliasHolder,
  aliasHolder,
  aliasWrites,
} from '../node-ipam/cloud/alias-node-holders.ts';
import { NodeHolders } from '../node-ipam/node-holders.ts';
import type { EventSubject } from '../../kubernetes/events/event-object.ts';
import { nodesPath } from '../../kubernetes/node/node-blocks.ts';
import { NodeWriter } from '../../kubernetes/node/node-writer.ts';
import type { AliasCloud, CloudDeps } from '../../controller/clouds/cloud.ts';
import { type BlockKind, BlockMode, type BlockPorts } from './block-mode.ts';
import type { ModeDeps } from '../../controller/host.ts';

export function aliasMode(
  deps: ModeDeps,
  compose: BlockKind<AliasHolder, AliasDraft>['compose'],
): BlockMode<AliasHolder, AliasDraft> {
  return new BlockMode(deps, { served: 'Nodes', path: nodesPath, read: aliasHolder, compose });
}

/** `C`: what the mode uses of the cloud. */
export class AliasParts<C extends Pick<AliasCloud, 'showCalls'>> {
  readonly access = { mode: 'nodeipam', setsConditions: true } as const;
  readonly holders: NodeHolders<AliasHolder, AliasDraft>;
  readonly countsAsPeer = true;
  readonly watches = [];
  readonly background = [];
  protected readonly cloudInUse: C;

  constructor(
    { host, kubernetes, leadership }: ModeDeps,
    { observe, mayWrite }: BlockPorts<AliasHolder>,
    composeCloud: (deps: CloudDeps) => C,
  ) {
    const { options, clock, log, registry } = host;
    this.cloudInUse = composeCloud({ options, clock, log, metrics: registry.metrics, ...leadership });
    const writer = new NodeWriter(kubernetes, mayWrite, writeTimeoutOf(options));
    const write = aliasWrites(writer, () => clock.wall());
    this.holders = new NodeHolders({ read: aliasHolder, writer, write, observe });
  }

  subjects({ name, uid }: AliasHolder): readonly EventSubject[] {
    return [{ kind: 'Node', name, uid }];
  }

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  show(): void {
    this.cloudInUse.showCalls();
  }
}
