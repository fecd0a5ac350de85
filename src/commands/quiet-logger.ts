// Logs for commands that ask: people read only warnings, and only their words.
import type { Logger } from '../observability/logger.ts';

export function quietLogger(warn: (message: string) => void): Logger {
  const silent = (): void => undefined;
  return { debug: silent, info: silent, warn, error: warn, child: () => quietLogger(warn) };
}
