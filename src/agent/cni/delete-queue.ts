// DELs that the plugin left in files because no agent answered. Each is replayed before the agent serves, and at intervals: the
// agent may have hung, or a DEL have failed for a reason that passes, such as a full disk. A file goes once its DEL is answered:
// done, or refused.
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '../../observability/logger.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { type Answerer, parseCall } from './answerer.ts';
import { cniCode } from './cni-error.ts';

/** The plugin writes no more. */
const maxFiles = 4096;

/** Of a call, in bytes: the plugin sends none that is longer. */
const maxBytes = 2 ** 20;

/** Between two replays, in ms. */
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
 * Replays what is in the queue for this agent. A DEL that the agent refuses is logged, and leaves; a file that holds none, or
 * that cannot be read or removed, is logged, and stays. `told`: what was logged of files before, with what they are now.
 */
export async function replayDeletes(
  { directory, socketName }: DeleteQueue,
  answerer: Answerer,
  log: Logger,
  told: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  for (const name of filesIn(directory)) {
    const path = join(directory, name);
    const failure = await replay(path, socketName, answerer);
    if (failure === undefined) continue;
    const { kind, problem } = failure;
    problems.set(path, problem);
    const what = kind === 'refused' ? 'refused' : 'cannot replay';
    if (told.get(path) !== problem) log.warn(`${what} a DEL that the plugin left`, { path, problem });
  }
  return problems;
}

/** Replays until `signal` aborts. */
export async function replayRest(
  queue: DeleteQueue,
  { answerer, clock, log }: { readonly answerer: Answerer; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
  told: ReadonlyMap<string, string>,
): Promise<void> {
  let problems = told;
  try {
    while (!signal.aborted) {
      await sleep(clock, replayInterval, signal);
      problems = await replayDeletes(queue, answerer, log, problems);
    }
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
  readonly kind: 'refused' | 'stays';
  readonly problem: string;
}

async function replay(path: string, socketName: string, answerer: Answerer): Promise<Failure | undefined> {
  try {
    const call = parseCall(JSON.parse(textOf(path)));
    if (call === undefined || call.env['CNI_COMMAND'] !== 'DEL')
      return { kind: 'stays', problem: 'it holds no DEL' };
    if (socketNameIn(call.stdin) !== socketName) return undefined;
    const { exit, out } = await answerer.answer(call, never);
    const isTried = exit === 0 || (JSON.parse(out) as { readonly code: number }).code !== cniCode.tryAgain;
    if (!isTried) return { kind: 'stays', problem: out.trim() };
    rmSync(path, { force: true });
    return exit === 0 ? undefined : { kind: 'refused', problem: out.trim() };
  } catch (error) {
    return { kind: 'stays', problem: (error as Error).message };
  }
}

/** Of a regular file: a pipe would never end. */
function textOf(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > maxBytes) throw new Error('it is no small regular file');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
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
