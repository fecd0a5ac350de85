// What a controller is doing, for people and probes.

export type ControllerState =
  /** Reads the cluster. */
  | 'starting'
  /** Another process leads; everything is kept ready. */
  | 'standby'
  | 'leading'
  /** Ends what was begun. */
  | 'draining'
  | 'stopped';
