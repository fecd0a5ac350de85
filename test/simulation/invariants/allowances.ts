// By how much an instance may exceed the limit of its node: addresses from external changes, and a former limit while
// controllers may still act on it.

/** Maximum time from a change of a CiliumNode until every controller knows, in ms. */
const limitKnownWithin = 600_000;

export class Allowances {
  readonly #now: () => number;
  /** By instance: the number of addresses from external changes. */
  readonly #extra = new Map<string, number>();
  /** By instance: the largest recent max-allocate, and until when a controller may still act on it. */
  readonly #formerLimits = new Map<string, { readonly max: number; readonly until: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** An external change assigned an address to an instance. */
  addExtra(instanceId: string): void {
    this.#extra.set(instanceId, this.extra(instanceId) + 1);
  }

  extra(instanceId: string): number {
    return this.#extra.get(instanceId) ?? 0;
  }

  /** The max-allocate of a node changed; controllers learn of it late. */
  limitChanged(instanceId: string, formerly: number): void {
    const max = Math.max(formerly, this.formerLimit(instanceId));
    this.#formerLimits.set(instanceId, { max, until: this.#now() + limitKnownWithin });
  }

  /** The limit that a controller may still act on; 0 without a recent change. */
  formerLimit(instanceId: string): number {
    const former = this.#formerLimits.get(instanceId);
    return former === undefined || this.#now() > former.until ? 0 : former.max;
  }
}
