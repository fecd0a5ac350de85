// Records Events about nodes where users look for them: on the CiliumNode and on its Node.
import type { NodeReference } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { EventReport, EventSink } from '../../kubernetes/events/event-object.ts';

export class NodeEvents {
  readonly #events: EventSink;
  readonly #nodeUid: (name: string) => string | undefined;

  /** `nodeUid`: the uid of a Node; undefined if none of that name is known. */
  constructor(events: EventSink, nodeUid: (name: string) => string | undefined) {
    this.#events = events;
    this.#nodeUid = nodeUid;
  }

  record({ name, uid, nodeUid }: NodeReference, report: EventReport): void {
    this.#events.record({ kind: 'CiliumNode', name, uid }, report);
    this.#events.record({ kind: 'Node', name, uid: this.#nodeUid(name) ?? nodeUid }, report);
  }

  /** Records a report that several nodes have in common. */
  recordOnLease(report: EventReport): void {
    this.#events.recordOnLease(report);
  }
}
