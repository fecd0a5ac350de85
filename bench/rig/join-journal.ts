// What agents tell while their nodes join: how long each takes until it serves pods, and whether one of its writes met a
// write of ours. Nobody else writes their CiliumNodes.
import type { WorkloadEvent } from '../../src/simulator/workload/journal.ts';

export class JoinJournal {
  /** By node: when its CiliumNode was written first, in monotonic ms. */
  readonly #announced = new Map<string, number>();
  readonly #ready = new Map<string, number>();
  readonly #refused = new Set<string>();

  /** A node that is ready has joined: what its agent does later counts no more. */
  note({ at, node, kind, detail }: Pick<WorkloadEvent, 'at' | 'node' | 'kind' | 'detail'>): void {
    if (this.#ready.has(node)) return;
    if (kind === 'written' && !this.#announced.has(node)) this.#announced.set(node, at);
    if (kind === 'write-refused' && detail.startsWith('409 ') && this.#announced.has(node))
      this.#refused.add(node);
    if (kind === 'agent-serving') this.#ready.set(node, at);
  }

  /** From its CiliumNode until its agent serves, of each node that joined, in seconds. */
  get seconds(): readonly number[] {
    return [...this.#ready].map(([node, at]) => (at - (this.#announced.get(node) ?? NaN)) / 1000);
  }

  /** Nodes whose agents met a write of ours. */
  get conflicts(): number {
    return this.#refused.size;
  }
}
