// The controller's lifecycle state, for people and probes.

export type ControllerState =
  /** Reads the cluster. */
  | 'starting'
  /** Another process leads; this one keeps its caches warm. */
  | 'standby'
  /** Holds the Lease and reads all CiliumNode writes up to that moment. */
  | 'catchingUp'
  | 'leading'
  /** Waits for work in flight. */
  | 'draining'
  | 'stopped';
