// Decides which interfaces of a node are awaited: our own call attached them, and no read has shown them attached.
// Nothing of them is offered or counts as supply until one does. An interface that the CiliumNode shows already is not
// awaited: pods may use its addresses.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { isInterfaceShown } from '../../kubernetes/cilium-node/shown-addresses.ts';
import type { AwaitedAttachment, InstanceView } from '../../providers/contract/facts.ts';

type Shown = Pick<CiliumNode, 'ipam' | 'status'>;

/** The awaited interfaces by id. */
export function awaitedOn(
  { awaited }: Pick<InstanceView, 'awaited'>,
  node: Shown,
): ReadonlyMap<string, AwaitedAttachment> {
  if (awaited.size === 0) return awaited;
  const isShown = isInterfaceShown(node);
  return new Map([...awaited].filter(([id]) => !isShown(id)));
}

/** The view without awaited interfaces; `view` itself if there are none. */
export function withoutAwaited(view: InstanceView, node: Shown): InstanceView {
  const awaited = awaitedOn(view, node);
  if (awaited.size === 0) return view;
  return { ...view, interfaces: view.interfaces.filter(({ id }) => !awaited.has(id)) };
}

/** The ids of those that a read should have shown, sorted. */
export function overdueAmong(awaited: ReadonlyMap<string, AwaitedAttachment>): readonly string[] {
  return [...awaited].flatMap(([id, { isOverdue }]) => (isOverdue ? [id] : [])).toSorted();
}
