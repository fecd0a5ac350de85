// What nodes gave up of their instances: by their own CiliumNodes, which a Node verifies. Nothing else may be taken.
import type { ShownNode } from './shown-node.ts';

/** A call may take effect so long after its node was seen to have given the address up, in ms. */
const lasting = 600_000;

export class GivenUp {
  readonly #now: () => number;
  /** By instance and address, until when it counts as given up; Infinity while the node says so. */
  readonly #until = new Map<string, number>();
  /** By instance, what its node agrees to give up now. */
  readonly #agreed = new Map<string, ReadonlySet<string>>();
  /** Instances whose agent says what it holds, and is not asked. */
  readonly #unasked = new Set<string>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The newest state of a node's own CiliumNode. */
  see({ instanceId, handshakes, allocated }: ShownNode): void {
    const agreed = Object.entries(handshakes).filter(([, state]) => state === 'ready-for-release');
    const now = new Set(agreed.map(([address]) => `${instanceId} ${address}`));
    for (const key of this.#agreed.get(instanceId) ?? [])
      if (!now.has(key)) this.#until.set(key, this.#now() + lasting);
    for (const key of now) this.#until.set(key, Infinity);
    this.#agreed.set(instanceId, now);
    if (allocated.length > 0) this.#unasked.add(instanceId);
  }

  /** Whether the node of the instance has ever said that the address may go. Of one that is not asked silence says so. */
  has(instanceId: string, address: string): boolean {
    const until = this.#until.get(`${instanceId} ${address}`);
    return (until !== undefined && this.#now() <= until) || this.#unasked.has(instanceId);
  }
}
