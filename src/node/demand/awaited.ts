// Decides which interfaces of a node are awaited: our own call attached them, and no read has shown them attached.
// Nothing of them is offered or counts as supply until one does. An interface that the CiliumNode shows already is not
// awaited: pods may use its addresses.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { isInterfaceShown } from '../../kubernetes/cilium-node/shown-addresses.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';

type Shown = Pick<CiliumNode, 'ipam' | 'status'>;

/** The awaited interfaces by id, with the time since when each is awaited, in monotonic ms. */
export function awaitedOn(
  { awaited }: Pick<InstanceView, 'awaited'>,
  node: Shown,
): ReadonlyMap<string, number> {
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

/** The ids that a read should have shown by `now`, sorted, and when the next one is overdue. */
export function overdueAt(
  awaited: ReadonlyMap<string, number>,
  { now, consistencyWindow }: { readonly now: number; readonly consistencyWindow: number },
): { readonly overdue: readonly string[]; readonly nextAt: number | undefined } {
  const due = [...awaited].map(([id, since]) => [id, since + consistencyWindow] as const);
  const next = Math.min(...due.flatMap(([, at]) => (at > now ? [at] : [])));
  return {
    overdue: due.flatMap(([id, at]) => (at <= now ? [id] : [])).toSorted(),
    nextAt: next === Infinity ? undefined : next,
  };
}
