// The first step of the command run: options, or the reasons why there are none. It starts nothing.
import type { DestinationStream } from 'pino';
import type { GivenFlags } from '../config/given-text.ts';
import { loadOptions } from '../config/load-options.ts';
import { type OptionSources, sourceInWords } from '../config/option-source.ts';
import type { Surroundings } from '../config/option-row.ts';
import { optionNames, type Options, propertyOf } from '../config/option-table.ts';
import type { Outbound } from '../config/outbound.ts';
import { createJsonLogger } from '../observability/json-logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../scheduling/clock.ts';
import { exitCode } from './exit-code.ts';

export interface StartContext {
  readonly surroundings: Surroundings;
  readonly clock: Clock;
  /** Where refusals are told. */
  readonly err: (text: string) => void;
  /** Where the log goes; standard output if not given. */
  readonly logTo?: DestinationStream;
}

export type Start =
  | { readonly kind: 'go'; readonly options: Options; readonly outbound: Outbound; readonly log: Logger }
  | { readonly kind: 'refused'; readonly exitCode: number };

/**
 * Loads the options and opens the log, in which it says what differs from the defaults and what was worth remarking.
 * Options that are refused are told in one line each.
 */
export function loadOrRefuse(flags: GivenFlags, { surroundings, clock, err, logTo }: StartContext): Start {
  const loaded = loadOptions(flags, surroundings);
  if (loaded.kind === 'refused') {
    for (const problem of loaded.problems) err(`headwater run: ${problem}\n`);
    return { kind: 'refused', exitCode: exitCode.usage };
  }

  const { options, sources, outbound, notices, warnings } = loaded;
  const log = createJsonLogger({
    level: options.logLevel,
    clock,
    ...(logTo !== undefined && { destination: logTo }),
  });
  log.info('options other than the defaults', { options: givenOptions(options, sources) });
  for (const { message, details } of notices) log.info(message, details);
  for (const { message, details } of warnings) log.warn(message, details);
  return { kind: 'go', options, outbound, log };
}

function givenOptions(options: Options, sources: OptionSources): Readonly<Record<string, unknown>> {
  const given = optionNames.filter((name) => sources[name].kind !== 'default');
  return Object.fromEntries(
    given.map((name) => [
      name,
      { value: options[propertyOf(name)], from: sourceInWords(name, sources[name]) },
    ]),
  );
}
