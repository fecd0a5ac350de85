// Reads the live options by the same rules as at startup, and rereads them while the process runs, so that an edited ConfigMap
// takes effect where it is mounted. A problem with one affects only that one.
import { type Clock, sleep } from '../runtime/clock.ts';
import { findRawOption, type Places, type RawFlags } from './raw-option.ts';
import { openConfigDirectory, readOption, scopeOf } from './load-options.ts';
import { refusalLine } from './option-source.ts';
import type { ProcessEnvironment } from './option-row.ts';
import { countsIn, kindIn, type OptionCommand, type OptionScope } from './option-scope.ts';
import { type OptionName, optionNames, optionTable, type Options, propertyOf } from './option-table.ts';

export type LiveValues = Pick<Options, 'dryRun' | 'pause' | 'allowWithdrawals'>;

export interface LiveReading {
  /** The values, without rejected options. */
  readonly values: Partial<LiveValues>;
  /** A line for each problem: the option, the value, its source, and the accepted values. */
  readonly problems: readonly string[];
  /** The other options whose restart would read another value, or refuse it; undefined if the directory does not say so. */
  readonly restartNeeded?: readonly OptionName[] | undefined;
}

const liveNames = optionNames.filter((name) => optionTable[name].live === true);

/** Texts in the directory, at the start, of the options that count only then. */
export interface TextsAtStart {
  readonly scope: OptionScope;
  readonly texts: ReadonlyMap<OptionName, string>;
}

/** Call it beside the load of the options. */
export function textsAtStart(
  command: OptionCommand,
  flags: RawFlags,
  processEnvironment: ProcessEnvironment,
): TextsAtStart {
  const { directory } = openConfigDirectory(flags, processEnvironment);
  const places = { flags, processEnvironment, directory };
  const scope = scopeOf(command, places);
  return { scope, texts: textsInFiles(scope, places) };
}

/** `atStart`: undefined if changes of the other options are of no interest. */
export function readLiveOptions(
  flags: RawFlags,
  processEnvironment: ProcessEnvironment,
  atStart?: TextsAtStart,
): LiveReading {
  const { directory, problems } = openConfigDirectory(flags, processEnvironment, liveNames);
  // The content of an unreadable directory is unknown, so it must not cause a fallback to defaults.
  if (problems.length > 0) return { values: {}, problems };
  const values: [keyof Options, unknown][] = [];
  const refused: string[] = [];
  for (const name of liveNames) {
    const { source, reading } = readOption(name, { flags, processEnvironment, directory });
    if (reading.kind === 'value') values.push([propertyOf(name), reading.value]);
    else
      refused.push(
        refusalLine({ name, source, text: reading.text, accepted: optionTable[name].kind.accepts }),
      );
  }
  const changed = atStart && changedSince(atStart, flags, processEnvironment);
  return {
    values: Object.fromEntries(values) as Partial<LiveValues>,
    problems: [...refused, ...(changed?.values() ?? [])],
    restartNeeded: changed && [...changed.keys()],
  };
}

/** A line for each option whose restart would read another value, or refuse it. Undefined if no directory can be read. */
function changedSince(
  { scope, texts }: TextsAtStart,
  flags: RawFlags,
  processEnvironment: ProcessEnvironment,
): ReadonlyMap<OptionName, string> | undefined {
  const { directory } = openConfigDirectory(flags, processEnvironment);
  if (directory === undefined) return undefined;
  const places = { flags, processEnvironment, directory };
  const now = textsInFiles(scope, places);
  const changed = optionNames.filter((name) => texts.get(name) !== now.get(name));
  const lineOf = (name: OptionName): string => {
    const { source, reading } = readOption(name, places, scope);
    const later = `${name}: it differs in ${directory.path} from what it was at the start; restart every replica of Headwater to apply it, or put it back`;
    if (reading.kind === 'value') return later;
    const { accepts } = kindIn(scope, name);
    return `${later}. A restart ends with: ${refusalLine({ name, source, text: reading.text, accepted: accepts })}`;
  };
  return new Map(changed.map((name) => [name, lineOf(name)]));
}

/** Without live options, and without those that have their value from elsewhere or no effect. */
function textsInFiles(scope: OptionScope, places: Places): ReadonlyMap<OptionName, string> {
  return new Map(
    optionNames
      .filter((name) => countsIn(scope, name) && !liveNames.includes(name))
      .flatMap((name): readonly [OptionName, string][] => {
        const { source, texts } = findRawOption(name, places, scope);
        return source.kind === 'file' ? [[name, texts.join()]] : [];
      }),
  );
}

export interface LiveOptionsDeps {
  readonly values: LiveValues;
  readonly read: () => LiveReading;
  readonly clock: Clock;
  /** Called with the values after each change. */
  readonly onChange: (values: LiveValues) => void;
  /** Called once per rejected value, in one line. The previous value stays. */
  readonly onProblem: (problem: string) => void;
}

/** Between two reads, in ms. The kubelet needs up to a minute to deliver a changed ConfigMap. */
const interval = 10_000;

export class LiveOptions {
  readonly #deps: LiveOptionsDeps;
  #values: LiveValues;
  #problems: ReadonlySet<string> = new Set();
  #restartNeeded: readonly OptionName[] = [];

  constructor(deps: LiveOptionsDeps) {
    this.#deps = deps;
    this.#values = deps.values;
  }

  /** Options that differ from what they were at the start, and count from a restart on. */
  get restartNeeded(): readonly OptionName[] {
    return this.#restartNeeded;
  }

  /** Reads until `signal` aborts, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    while (!signal.aborted) {
      await sleep(clock, interval, signal).catch(() => undefined);
      if (!signal.aborted) this.#read();
    }
  }

  #read(): void {
    const { read, onChange, onProblem } = this.#deps;
    const { values, problems, restartNeeded = this.#restartNeeded } = read();
    this.#restartNeeded = restartNeeded;
    for (const problem of problems) if (!this.#problems.has(problem)) onProblem(problem);
    this.#problems = new Set(problems);
    const next = { ...this.#values, ...values };
    if (JSON.stringify(next) === JSON.stringify(this.#values)) return;
    this.#values = next;
    onChange(next);
  }
}
