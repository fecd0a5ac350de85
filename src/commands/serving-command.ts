// The frame of the commands run, nodeipam and agent: loads the options or reports why they are invalid, and serves until a
// signal.
import packageJson from '../../package.json' with { type: 'json' };
import type { DestinationStream } from 'pino';
import type { RawFlags } from '../config/raw-option.ts';
import { type LoadedOptions, loadOptions, type RoomChecks } from '../config/load-options.ts';
import { sourceInWords } from '../config/option-source.ts';
import type { ConfiguredCommand } from '../config/option-scope.ts';
import type { ProcessEnvironment } from '../config/option-row.ts';
import { type Options, propertyOf } from '../config/option-table.ts';
import type { Outbound } from '../config/outbound.ts';
import { thisProcess } from '../config/process-environment.ts';
import { unknownVariables } from '../config/unknown-variables.ts';
import { NotStartable } from '../controller/clouds/cloud.ts';
import { sanitizedText } from '../network/untrusted-text.ts';
import { createJsonLogger } from '../observability/json-logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { exitCode } from './exit-code.ts';
import { problemLine, type Readers } from './problem-line.ts';

export interface StartContext {
  /** Default: run. */
  readonly command?: ConfiguredCommand;
  readonly checks: RoomChecks;
  readonly processEnvironment: ProcessEnvironment;
  readonly clock: Clock;
  /** Version for the first log line; undefined outside a program. */
  readonly version?: string;
  /** Receives problems. */
  readonly err: (text: string) => void;
  /** Their audience. Default: people. */
  readonly readers?: Readers;
  /** Destination of the log. Default: standard output. */
  readonly logTo?: DestinationStream;
}

export interface Started {
  readonly options: Options;
  readonly outbound: Outbound;
  readonly log: Logger;
}

export type Start =
  | ({ readonly kind: 'go' } & Started)
  | { readonly kind: 'refused'; readonly exitCode: number };

export const { version } = packageJson;

/** Resolves to the exit code: that of `serve`, which ends once `stop` aborts, or says by a NotStartable why it cannot start. */
export async function runServing(
  given: RawFlags,
  { command, checks }: { readonly command: ConfiguredCommand; readonly checks: RoomChecks },
  serve: (started: Started, stop: AbortSignal) => Promise<number>,
): Promise<number> {
  const err = (text: string): boolean => process.stderr.write(text);
  const readers: Readers = process.stderr.isTTY ? 'people' : 'programs';
  const context = { command, checks, version, processEnvironment: thisProcess, clock: systemClock };
  const start = loadOrRefuse(given, { ...context, err, readers });
  if (start.kind === 'refused') return start.exitCode;
  const { log } = start;
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    // By default SIGHUP ends the process while a controller still holds the Lease. A terminal that closes sends it twice: once
    // by its shell, once by the kernel. Another signal that is repeated ends a controller at once.
    const isHeardAgain = signal === 'SIGHUP' || command === 'agent';
    process[isHeardAgain ? 'on' : 'once'](signal, () => {
      if (!stop.signal.aborted) log.info('shutting down', { signal });
      stop.abort();
    });
  }
  try {
    return await serve(start, stop.signal);
  } catch (error) {
    if (error instanceof NotStartable) {
      err(problemLine(command, error.message, readers, systemClock));
      return exitCode[error.kind];
    }
    log.error('exiting after an unexpected error', { error });
    return exitCode.failure;
  }
}

/**
 * Loads the options and opens the log. It logs settings that differ from the defaults, and the warnings. Each invalid
 * option yields one line.
 */
export function loadOrRefuse(flags: RawFlags, context: StartContext): Start {
  const { command = 'run', processEnvironment, clock, err, logTo, version, readers = 'people' } = context;
  const loaded = loadOptions(flags, processEnvironment, { command, checks: context.checks });
  if (loaded.kind === 'refused') {
    for (const problem of loaded.problems) err(problemLine(command, problem, readers, clock));
    return { kind: 'refused', exitCode: exitCode.usage };
  }

  const { options, outbound, notices, warnings } = loaded;
  const log = createJsonLogger({
    level: options.logLevel,
    clock,
    ...(logTo !== undefined && { destination: logTo }),
  });
  log.info('options other than the defaults', {
    ...(version !== undefined && { version }),
    options: givenOptions(loaded),
  });
  for (const { message, details } of notices) log.info(message, details);
  for (const { message, details } of warnings) log.warn(message, details);
  for (const unknown of unknownVariables(processEnvironment.environment)) {
    log.warn('no option has this environment variable', { ...unknown });
  }
  return { kind: 'go', options, outbound, log };
}

/** Characters of a value: tags for every interface may be many. */
const maxShown = 2000;

/** Numbers and booleans as such, everything else as given: units and maps read better that way. */
function givenOptions({
  options,
  sources,
  texts,
}: Extract<LoadedOptions, { kind: 'options' }>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...texts].map(([name, given]) => {
      const value: unknown = options[propertyOf(name)];
      const shown = given.map((text) => sanitizedText(text, maxShown));
      const words = shown.length === 1 ? shown[0] : shown;
      const isPlain = (typeof value === 'number' || typeof value === 'boolean') && String(value) === words;
      return [name, { value: isPlain ? value : words, from: sourceInWords(name, sources[name]) }];
    }),
  );
}
