// The end of a command that serves, before it is stopped: something that it cannot start with, or a bug.
import { NotStartable } from '../controller/clouds/cloud.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import { exitCode } from './exit-code.ts';
import { problemLine, type Readers } from './problem-line.ts';

export interface FailedCommand {
  readonly command: string;
  readonly err: (text: string) => void;
  readonly readers: Readers;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Says why, and returns the exit code. */
export function reportFailure(error: unknown, { command, err, log, readers, clock }: FailedCommand): number {
  if (error instanceof NotStartable) {
    err(problemLine(command, error.message, readers, clock));
    return exitCode[error.kind];
  }
  log.error('exiting after an unexpected error', { error });
  return exitCode.failure;
}
