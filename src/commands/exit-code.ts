// What an exit tells whoever started the process.

export const exitCode = {
  fine: 0,
  /** The work failed: starting again may help. */
  failure: 1,
  /** What was asked for is not understood: starting again does not help. */
  usage: 2,
} as const;
