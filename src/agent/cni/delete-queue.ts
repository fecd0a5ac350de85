// DELs that the plugin left in files because no agent answered. Each is replayed before the agent serves, and again later if it
// fails for a reason that passes, such as a full disk; a file goes once its DEL is answered: done, or refused.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '../../observability/logger.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { type Answerer, parseCall } from './answerer.ts';
import { cniCode } from './cni-error.ts';

/** The plugin writes no more. */
const maxFiles = 4096;

/** Between two replays of what failed, in ms. */
const replayInterval = 30_000;

const never = new AbortController().signal;

/** Agents whose sockets are in one folder share the directory. */
export interface DeleteQueue {
  readonly directory: string;
  /** The socket that a DEL of this agent was for, without its folder, which may have several paths. */
  readonly socketName: string;
}

/** Of a network that names none: as the plugin has it. */
const defaultSocketName = 'agent.sock';

/** Beside the socket, where the plugin finds it. */
export function deleteQueueOf(socketPath: string): DeleteQueue {
  return { directory: join(dirname(socketPath), 'deleteQueue'), socketName: basename(socketPath) };
}

/**
 * Replays what is in the queue for this agent; returns whether a later replay may do more. A DEL that the agent refuses is
 * logged, and leaves; a file that holds none, or that cannot be read or removed, is logged, and stays.
 */
export async function replayDeletes(
  { directory, socketName }: DeleteQueue,
  answerer: Answerer,
  log: Logger,
): Promise<boolean> {
  let mayPass = false;
  for (const name of filesIn(directory)) {
    const path = join(directory, name);
    const failure = await replay(path, socketName, answerer);
    if (failure === undefined) continue;
    const { kind, problem } = failure;
    mayPass ||= kind === 'passing';
    const what = kind === 'refused' ? 'refused' : 'cannot replay';
    log.warn(`${what} a DEL that the plugin left`, { path, problem });
  }
  return mayPass;
}

/** Replays until nothing is left that may yet be done, or `signal` aborts. */
export async function replayRest(
  queue: DeleteQueue,
  { answerer, clock, log }: { readonly answerer: Answerer; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  try {
    do await sleep(clock, replayInterval, signal);
    while (await replayDeletes(queue, answerer, log));
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
  readonly kind: 'refused' | 'passing' | 'lasting';
  readonly problem: string;
}

async function replay(path: string, socketName: string, answerer: Answerer): Promise<Failure | undefined> {
  try {
    const call = parseCall(JSON.parse(readFileSync(path, 'utf8')));
    if (call === undefined || call.env['CNI_COMMAND'] !== 'DEL')
      return { kind: 'lasting', problem: 'it holds no DEL' };
    if (socketNameIn(call.stdin) !== socketName) return undefined;
    const { exit, out } = await answerer.answer(call, never);
    const isTried = exit === 0 || (JSON.parse(out) as { readonly code: number }).code !== cniCode.tryAgain;
    if (!isTried) return { kind: 'passing', problem: out.trim() };
    rmSync(path, { force: true });
    return exit === 0 ? undefined : { kind: 'refused', problem: out.trim() };
  } catch (error) {
    return { kind: 'lasting', problem: (error as Error).message };
  }
}

function socketNameIn(stdin: string): string {
  try {
    const { ipam } = JSON.parse(stdin) as { readonly ipam?: { readonly socket?: unknown } };
    return typeof ipam?.socket === 'string' ? basename(ipam.socket) : defaultSocketName;
  } catch {
    return defaultSocketName;
  }
}
