// DELs that the plugin left in files because no agent answered. Each is replayed before the agent serves, and again later if it
// fails for a reason that passes, such as a full disk; a file goes once its DEL is done.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from '../../observability/logger.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { type Answerer, parseCall } from './answerer.ts';
import { cniCode } from './cni-error.ts';

/** The plugin writes no more. */
const maxFiles = 4096;

/** Between two replays of what failed, in ms. */
const replayInterval = 30_000;

const never = new AbortController().signal;

/** Beside the socket, where the plugin finds it. */
export function deleteQueueOf(socketPath: string): string {
  return join(dirname(socketPath), 'deleteQueue');
}

/**
 * Replays what is in the queue; returns whether a later replay may do more. A file that cannot be read or done is logged, and
 * stays.
 */
export async function replayDeletes(directory: string, answerer: Answerer, log: Logger): Promise<boolean> {
  let mayPass = false;
  for (const name of filesIn(directory)) {
    const path = join(directory, name);
    const failure = await replay(path, answerer);
    if (failure === undefined) continue;
    mayPass ||= failure.mayPass;
    log.warn('cannot replay a DEL that the plugin left', { path, problem: failure.problem });
  }
  return mayPass;
}

/** Replays until nothing is left that may yet be done, or `signal` aborts. */
export async function replayRest(
  directory: string,
  { answerer, clock, log }: { readonly answerer: Answerer; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  try {
    do await sleep(clock, replayInterval, signal);
    while (await replayDeletes(directory, answerer, log));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => /^[\da-f]{64}\.delete$/.test(name))
      .slice(0, maxFiles);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

interface Failure {
  readonly problem: string;
  readonly mayPass: boolean;
}

async function replay(path: string, answerer: Answerer): Promise<Failure | undefined> {
  try {
    const call = parseCall(JSON.parse(readFileSync(path, 'utf8')));
    if (call === undefined || call.env['CNI_COMMAND'] !== 'DEL')
      return { problem: 'it holds no DEL', mayPass: false };
    const { exit, out } = await answerer.answer(call, never);
    if (exit !== 0) return { problem: out.trim(), mayPass: codeIn(out) === cniCode.tryAgain };
    rmSync(path, { force: true });
    return undefined;
  } catch (error) {
    return { problem: (error as Error).message, mayPass: false };
  }
}

function codeIn(out: string): number {
  return (JSON.parse(out) as { readonly code: number }).code;
}
