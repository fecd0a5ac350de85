// Learns from refusals how long the cloud takes to recognize a new interface. Waiting costs time, not waiting costs
// calls; callers wait only when calls are scarce.

/** Longest wait, in ms. */
const max = 2000;
/** Added to the age at which an interface was not yet visible, in ms. */
const margin = 100;
/** Factor applied after each visible interface. After some hundreds, a shorter wait is tried. */
const decay = 0.999;

export class VisibilityLag {
  #ms = 0;

  /** In ms; 0 while every interface was visible at once. */
  get ms(): number {
    return this.#ms;
  }

  /** An interface was not yet visible `age` ms after its creation was answered. */
  unknown(age: number): void {
    this.#ms = Math.min(max, Math.max(this.#ms, age + margin));
  }

  /** An interface was visible on the first request. */
  known(): void {
    this.#ms *= decay;
  }
}
