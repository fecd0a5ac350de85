// First step of the commands run and nodeipam: loads the options or reports why they are invalid. It starts nothing.
import type { DestinationStream } from 'pino';
import type { RawFlags } from '../config/raw-option.ts';
import { type LoadedOptions, loadOptions, type RoomChecks } from '../config/load-options.ts';
import { sourceInWords } from '../config/option-source.ts';
import type { ConfiguredCommand } from '../config/option-scope.ts';
import type { ProcessEnvironment } from '../config/option-row.ts';
import { type Options, propertyOf } from '../config/option-table.ts';
import type { Outbound } from '../config/outbound.ts';
import { unknownVariables } from '../config/unknown-variables.ts';
import { sanitizedText } from '../network/untrusted-text.ts';
import { createJsonLogger } from '../observability/json-logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
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

export type Start =
  | { readonly kind: 'go'; readonly options: Options; readonly outbound: Outbound; readonly log: Logger }
  | { readonly kind: 'refused'; readonly exitCode: number };

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
