// Formats the reason why a command cannot start: plain for people on a terminal, otherwise as a log line, so that log
// collectors parse every line alike.
import type { Clock } from '../runtime/clock.ts';

/** The audience of a command's lines. */
export type Readers = 'people' | 'programs';

/** The commands with a JSON log; all other commands print for people. */
const logging: readonly (string | undefined)[] = ['run', 'nodeipam', 'agent'];

/** A whole line. `command`: its name; undefined if none was recognised. */
export function problemLine(
  command: string | undefined,
  problem: string,
  readers: Readers,
  clock: Pick<Clock, 'wall'>,
): string {
  if (readers === 'people' || !logging.includes(command)) {
    return `headwater${command === undefined ? '' : ` ${command}`}: ${problem}\n`;
  }
  const time = new Date(clock.wall()).toISOString();
  return `${JSON.stringify({ level: 'error', time, problem, msg: 'cannot start' })}\n`;
}
