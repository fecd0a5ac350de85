// Asks a controller again and again, and shows each answer: in place on a terminal, elsewhere one after the other.
import { sleep } from '../../runtime/clock.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';
import { exitCode } from '../exit-code.ts';
import { LiveFrame } from '../live-frame.ts';
import { frameOf, printLines } from './print-lines.ts';
import { type Line, told } from './text-table.ts';

/** A command's view of the answer. */
export interface Told {
  readonly json: string;
  readonly lines: Parameters<typeof printLines>[0];
  /** Whether something is wrong. */
  readonly isProblem: boolean;
  /** Why the answer is none, although there is one; undefined if it is one. */
  readonly unanswered?: string | undefined;
}

export interface WatchSettings {
  /** The command, for its errors. */
  readonly command: string;
  /** Between the end of one read and the start of the next, in ms. */
  readonly interval: number;
  readonly isJson: boolean;
}

/**
 * Until a signal ends it, or nobody reads its output any longer. Resolves to the exit code of the last answer. `ask` resolves
 * to what is wrong if there is no answer.
 */
export async function watch(settings: WatchSettings, ask: () => Promise<Told | string>): Promise<number> {
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => ending.abort());
  const show = process.stdout.isTTY && !settings.isJson ? liveScreen() : plainScreen(settings);
  let code: number = exitCode.unanswered;
  while (!ending.signal.aborted) {
    const answer = await ask();
    code = codeOf(answer);
    if (typeof answer === 'string') show(undefined, answer);
    else show(answer, answer.unanswered);
    await sleep(clock, settings.interval, ending.signal).catch(() => undefined);
  }
  return code;
}

export function codeOf(answer: Told | string): number {
  if (typeof answer === 'string' || answer.unanswered !== undefined) return exitCode.unanswered;
  return answer.isProblem ? exitCode.failure : exitCode.fine;
}

/** `answer`: undefined if there was none. */
type Screen = (answer: Told | undefined, problem: string | undefined) => void;

/** Keeps the last answer on the screen while none comes, and says so. */
function liveScreen(): Screen {
  const frame = new LiveFrame((text) => void process.stdout.write(text));
  let last: Told | undefined;
  return (answer, problem) => {
    last = answer ?? last;
    const { columns, rows } = process.stdout;
    const width = columns || 80;
    frame.draw(frameOf(watchedLines(last?.lines(width) ?? [], problem, width), (rows || 24) - 1));
  };
}

/** Faults stand first: the end of a long answer is cut off. */
export function watchedLines(
  lines: readonly Line[],
  problem: string | undefined,
  width: number,
): readonly Line[] {
  return [...told('no answer', problem, 'bad')(width), ...lines];
}

function plainScreen({ command, isJson }: WatchSettings): Screen {
  return (answer, problem) => {
    if (answer !== undefined && isJson) process.stdout.write(answer.json);
    else if (answer !== undefined) printLines((width) => [...answer.lines(width), { text: '' }]);
    if (problem !== undefined) process.stderr.write(`headwater ${command}: ${problem}\n`);
  };
}
