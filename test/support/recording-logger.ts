// A logger that records its lines.
import type { LogDetails, Logger, LogLevel } from '../../src/observability/logger.ts';

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  /** Bindings and details together. */
  readonly details: LogDetails;
}

export interface RecordingLogger extends Logger {
  /** In order, including those of children. */
  readonly lines: readonly LogLine[];
}

export function recordingLogger(): RecordingLogger {
  const lines: LogLine[] = [];
  return { ...loggerInto(lines, {}), lines };
}

function loggerInto(lines: LogLine[], bindings: LogDetails): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, details: LogDetails = {}): void => {
      lines.push({ level, message, details: { ...bindings, ...details } });
    };

  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (more) => loggerInto(lines, { ...bindings, ...more }),
  };
}
