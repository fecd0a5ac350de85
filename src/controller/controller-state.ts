// What a controller is doing, for people and probes.

export type ControllerState =
  /** Reads the cluster. */
  | 'starting'
  /** Another process leads; everything is kept ready. */
  | 'standby'
  /** Holds the Lease, and reads what was written to CiliumNodes until then. */
  | 'catchingUp'
  | 'leading'
  /** Ends what was begun. */
  | 'draining'
  | 'stopped';
