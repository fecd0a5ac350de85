// The port through which every room says what it does. It holds no implementation and must import none, so that whoever
// logs depends on nothing.

/** Values that belong to a message. Errors among them, also inside arrays, are written out with their causes. */
export type LogDetails = Readonly<Record<string, unknown>>;

/**
 * Messages are constants, what differs goes into the details: so that lines group. A warning is something that someone
 * should act on.
 */
export interface Logger {
  debug(message: string, details?: LogDetails): void;
  info(message: string, details?: LogDetails): void;
  warn(message: string, details?: LogDetails): void;
  error(message: string, details?: LogDetails): void;
  /** A logger whose every line carries `bindings` as well. */
  child(bindings: LogDetails): Logger;
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** How loud: a level lets itself and everything after it through. */
export type LogLevel = (typeof logLevels)[number];
