// What must never be, as the judge of a simulation tells it.

export type Invariant =
  /** A call of ours took an address away that a pod holds. */
  | 'taken-in-use'
  /** A call of ours took from an instance what its own node did not give up. */
  | 'not-given-up'
  /** A write of ours hid an address that a pod holds. */
  | 'hidden-in-use'
  /** A write of ours offers what the cloud had not assigned to the instance of late. */
  | 'offered-unassigned'
  /** Two nodes offer an address. */
  | 'offered-twice'
  /** An address is offered without the interface that carries it. */
  | 'offered-without-interface'
  /** An agent found fault with what it was shown. */
  | 'agent-violation'
  /** The cloud refused the same thing again, for the same reason. */
  | 'refused-again'
  /** A controller took what nobody but its own replicas wrote for somebody else's. */
  | 'false-alarm'
  /** Something happened that only a mistake in a program explains. */
  | 'bug'
  | 'short'
  | 'waiting'
  | 'late'
  | 'excess'
  | 'beyond-limit'
  | 'left-behind'
  | 'stale-offer'
  | 'open-handshake'
  | 'not-silent'
  /** The fast rig and the wire came to different decisions. */
  | 'rigs-differ';

export interface Breach {
  readonly invariant: Invariant;
  /** In virtual ms. */
  readonly at: number;
  readonly text: string;
}
