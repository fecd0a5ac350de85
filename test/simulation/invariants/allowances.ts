// By how much an instance may exceed the limit of its node: by what somebody else gave it, and for as long as controllers may not
// have heard of another limit.

/** From when a CiliumNode is changed until each controller has heard of it, at most, in ms. */
const heardWithin = 600_000;

export class Allowances {
  readonly #now: () => number;
  /** By instance, how many addresses somebody else gave it. */
  readonly #gifts = new Map<string, number>();
  /** By instance, the largest max-allocate that it had of late, and until when a controller may not know better. */
  readonly #formerLimits = new Map<string, { readonly most: number; readonly until: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Somebody else gave an instance an address. */
  gave(instanceId: string): void {
    this.#gifts.set(instanceId, this.gifts(instanceId) + 1);
  }

  gifts(instanceId: string): number {
    return this.#gifts.get(instanceId) ?? 0;
  }

  /** The max-allocate of a node was changed, and controllers hear of that late. */
  limitChanged(instanceId: string, formerly: number): void {
    const most = Math.max(formerly, this.formerLimit(instanceId));
    this.#formerLimits.set(instanceId, { most, until: this.#now() + heardWithin });
  }

  /** What a controller may still take for the limit; 0 where nothing was changed of late. */
  formerLimit(instanceId: string): number {
    const former = this.#formerLimits.get(instanceId);
    return former === undefined || this.#now() > former.until ? 0 : former.most;
  }
}
