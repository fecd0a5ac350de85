// How long the cloud takes, lately, to know an interface that it just made: what its refusals taught. To wait so long costs
// time; not to wait costs calls. So it is waited for where calls are scarce.

/** Never waited for longer than this, in ms. */
const longest = 2000;
/** Added to the age at which an interface was not known yet, in ms. */
const margin = 100;
/** What each interface that was known takes off: one in some hundreds finds out whether less would do. */
const decay = 0.999;

export class VisibilityLag {
  #ms = 0;

  /** In ms; 0 as long as everything was known at once. */
  get ms(): number {
    return this.#ms;
  }

  /** An interface was not known yet `age` ms after the answer to its creation. */
  unknown(age: number): void {
    this.#ms = Math.min(longest, Math.max(this.#ms, age + margin));
  }

  /** An interface was known when it was asked for first. */
  known(): void {
    this.#ms *= decay;
  }
}
