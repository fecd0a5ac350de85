// The invariants of a simulation, and how a violation is reported.

export type Invariant =
  /** A call of a controller unassigned an address that a pod holds. */
  | 'unassigned-in-use'
  /** A call of a controller unassigned what the instance's own node did not release. */
  | 'unassigned-without-consent'
  /** A write of a controller hid an address that a pod holds. */
  | 'hidden-in-use'
  /** A write of a controller offers what the instance has not had recently. */
  | 'offered-unassigned'
  /** Two nodes offer the same address. */
  | 'offered-twice'
  /** An address is offered without the interface that has it. */
  | 'offered-without-interface'
  /** An agent reported a violation. */
  | 'agent-violation'
  /** A controller repeated a call that the cloud had refused. */
  | 'repeated-refused-call'
  /** A controller took a write of its own replicas for a conflicting writer's, or held withdrawals without a reason. */
  | 'false-alarm'
  /** A controller sent what must never be sent, or hid what the cloud was still changing. */
  | 'misdeed'
  /** Only a bug explains it. */
  | 'bug'
  | 'in-deficit'
  | 'pending-pods'
  | 'late-pods'
  | 'excess'
  | 'above-max-allocate'
  | 'leaked-interface'
  | 'stale-offer'
  | 'unfinished-release'
  | 'static-address'
  /** Agents set up no new interface, as their CiliumNode is. */
  | 'device-set-up'
  | 'not-quiescent'
  /** The fast path and the wire led to different decisions. */
  | 'wire-differs';

export interface Violation {
  readonly invariant: Invariant;
  /** In virtual ms. */
  readonly at: number;
  readonly text: string;
}
