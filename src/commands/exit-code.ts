// Defines the exit codes of the process.

export const exitCode = {
  fine: 0,
  /** The work failed: a restart may help. */
  failure: 1,
  /** The request is invalid: a restart does not help. */
  usage: 2,
  /** A command that asks could not find out. */
  unanswered: 2,
  /** A demonstration came to a standstill: nothing was found to be broken, and not everything was shown. */
  tooSlow: 3,
  /** Interrupted before the work was done. This is no failure; shells report Ctrl-C with the same code. */
  interrupted: 130,
} as const;
