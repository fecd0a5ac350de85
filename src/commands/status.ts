// The command status: shows the status of a controller once.
import { oneOf } from '../config/value-kinds.ts';
import type { RawFlags } from '../config/raw-option.ts';
import { thisProcess } from '../config/process-environment.ts';
import { formatListenAddress, parseListenAddress } from '../observability/listen-address.ts';
import { exitCode } from './exit-code.ts';
import { readStatus, type ReadStatus } from './status/served-report.ts';
import { type Line, problemsOf, statusLines } from './status/status-lines.ts';

export async function status(given: RawFlags): Promise<number> {
  const formats = oneOf(['text', 'json']);
  const format = formats.parse(lastOf(given, 'output') ?? 'text');
  if (format === undefined)
    return fail(`--output is ${JSON.stringify(lastOf(given, 'output'))}; accepted: ${formats.accepts}`);
  const read = await readAt(lastOf(given, 'address') ?? '');
  if (read.kind === 'failed') return fail(read.problem);
  const { served } = read;
  const { columns } = process.stdout;
  process.stdout.write(
    format === 'json'
      ? served.json
      : statusLines(served, columns)
          .map((line) => `${painted(line)}\n`)
          .join(''),
  );
  return problemsOf(served).length === 0 ? exitCode.fine : exitCode.failure;
}

async function readAt(given: string): Promise<ReadStatus> {
  const address = parseListenAddress(given.replace(/^http:\/\//, '').replace(/\/.*$/, ''));
  if (address === undefined)
    return {
      kind: 'failed',
      problem: '--address is no host:port or http://host:port, such as 127.0.0.1:9966',
    };
  const { host = 'localhost', port } = address;
  const read = await readStatus({ host, port });
  return read.kind === 'read'
    ? read
    : { kind: 'failed', problem: `cannot read ${formatListenAddress({ host, port })}: ${read.problem}` };
}

/** Colour only for people, and not for those who asked for none: https://no-color.org */
function painted({ text, style }: Line): string {
  const code = style === undefined ? undefined : codes[style];
  const isColoured = process.stdout.isTTY && !thisProcess.environment['NO_COLOR'];
  return code === undefined || !isColoured ? text : `\u001b[${code}m${text}\u001b[0m`;
}

const codes = { title: 1, good: 32, bad: 31, doubtful: 33 } as const satisfies Record<
  NonNullable<Line['style']>,
  number
>;

function lastOf(given: RawFlags, name: string): string | undefined {
  return given.get(name)?.at(-1);
}

function fail(problem: string): number {
  process.stderr.write(`headwater status: ${problem}\n`);
  return exitCode.unanswered;
}
