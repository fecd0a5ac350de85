// What nodes consented to release, in their own CiliumNode that a Node verifies. Nothing else may be unassigned.
import type { ShownNode } from './shown-node.ts';

/** How long after the consent of its node a call may take effect, in ms. */
const validFor = 600_000;

export class ReleaseConsents {
  readonly #now: () => number;
  /** By instance and address: until when the consent counts; Infinity while the node repeats it. */
  readonly #until = new Map<string, number>();
  /** By instance: what its node consents to release now. */
  readonly #agreed = new Map<string, ReadonlySet<string>>();
  /** Instances whose agent reports what it holds, and is not asked. */
  readonly #implicit = new Set<string>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Applies the latest state of a node's own CiliumNode. */
  update({ instanceId, handshakes, allocated }: ShownNode): void {
    const agreed = Object.entries(handshakes).filter(([, state]) => state === 'ready-for-release');
    const now = new Set(agreed.map(([address]) => `${instanceId} ${address}`));
    for (const key of this.#agreed.get(instanceId) ?? [])
      if (!now.has(key)) this.#until.set(key, this.#now() + validFor);
    for (const key of now) this.#until.set(key, Infinity);
    this.#agreed.set(instanceId, now);
    if (allocated.length > 0) this.#implicit.add(instanceId);
  }

  /** Whether the node of the instance consented to the release. An agent that is not asked consents by silence. */
  has(instanceId: string, address: string): boolean {
    const until = this.#until.get(`${instanceId} ${address}`);
    return (until !== undefined && this.#now() <= until) || this.#implicit.has(instanceId);
  }
}
