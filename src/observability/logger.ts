// The logging port of every room. It imports no implementation, so that code that logs depends on nothing.

/** Values of a message. Errors, also inside arrays, are logged with their causes. */
export type LogDetails = Readonly<Record<string, unknown>>;

/** Messages are constants and variable parts go into the details, so that lines group. A warning calls for action. */
export interface Logger {
  debug(message: string, details?: LogDetails): void;
  info(message: string, details?: LogDetails): void;
  warn(message: string, details?: LogDetails): void;
  error(message: string, details?: LogDetails): void;
  /** A logger that adds `bindings` to every line. */
  child(bindings: LogDetails): Logger;
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** A level includes itself and every level after it. */
export type LogLevel = (typeof logLevels)[number];
