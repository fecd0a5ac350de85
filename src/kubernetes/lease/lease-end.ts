// The end of a lease, which counts once either clock has passed it: one of them may stand still or be set.

/** The end of our own lease, or another moment on both clocks. */
export interface LeaseEnd {
  /** Monotonic ms. */
  readonly monotonic: number;
  /** Ms since the epoch. */
  readonly wall: number;
}
