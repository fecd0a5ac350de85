// Which addresses pods had, and when. A write takes effect later than it is sent, and is checked against the time of
// sending.
import type { WorkloadEvent } from '../../../src/simulator/workload/journal.ts';

interface Use {
  readonly from: number;
  readonly until: number;
}

/** Longer than any write takes from sending to its effect, in ms. */
const remembered = 60_000;

export class PodUses {
  readonly #now: () => number;
  /** By node and address: the last use, and recently ended ones. */
  readonly #uses = new Map<string, readonly Use[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  apply({ node, kind, subject: address }: Pick<WorkloadEvent, 'node' | 'kind' | 'subject'>): void {
    const now = this.#now();
    const uses = this.#of(node, address);
    if (kind === 'address-taken') {
      const recent = uses.filter(({ until }) => until > now - remembered);
      this.#uses.set(keyOf(node, address), [...recent, { from: now, until: Infinity }]);
    }
    const last = uses.at(-1);
    if (kind === 'address-given-back' && last !== undefined)
      this.#uses.set(keyOf(node, address), [...uses.slice(0, -1), { ...last, until: now }]);
  }

  /** Whether a pod of the node had the address at that time, at most a minute ago. */
  hadAt(node: string, address: string, time: number): boolean {
    return this.#of(node, address).some(({ from, until }) => from <= time && time < until);
  }

  #of(node: string, address: string): readonly Use[] {
    return this.#uses.get(keyOf(node, address)) ?? [];
  }
}

function keyOf(node: string, address: string): string {
  return `${node} ${address}`;
}
