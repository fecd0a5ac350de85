// Writes log lines as JSON, one object per line: level, ISO time of the injected clock, bindings, details, message.
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import type { Clock } from '../runtime/clock.ts';
import { describeError } from './describe-error.ts';
import type { LogDetails, Logger, LogLevel } from './logger.ts';

export interface JsonLoggerOptions {
  readonly level: LogLevel;
  readonly clock: Clock;
  /** Receives whole lines in order. Default: standard output. */
  readonly destination?: DestinationStream;
}

/** Creates a logger that writes each line before the call returns, so that no line is lost at exit. */
export function createJsonLogger(options: JsonLoggerOptions): Logger {
  const { level, clock, destination = pino.destination({ dest: 1, sync: true }) } = options;
  const target = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock.wall()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return portTo(target);
}

function portTo(target: PinoLogger): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, details: LogDetails = {}): void => {
      if (target.isLevelEnabled(level)) target[level](loggable(details), message);
    };

  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (bindings) => portTo(target.child(loggable(bindings))),
  };
}

function loggable(details: LogDetails): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).map(([key, value]) => [key, withErrorsDescribed(value)]));
}

function withErrorsDescribed(value: unknown): unknown {
  if (value instanceof Error) return describeError(value);
  return Array.isArray(value) ? value.map(withErrorsDescribed) : value;
}
