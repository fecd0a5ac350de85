// DELs that the plugin left in files because no agent answered. Each is replayed before the agent serves; a file goes once its
// DEL is done.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from '../../observability/logger.ts';
import { type Answerer, parseCall } from './answerer.ts';

/** The plugin writes no more. */
const maxFiles = 4096;

const never = new AbortController().signal;

/** Beside the socket, where the plugin finds it. */
export function deleteQueueOf(socketPath: string): string {
  return join(dirname(socketPath), 'deleteQueue');
}

/** Replays what is in the queue. A file that cannot be read or done is logged, and stays for the next start. */
export async function replayDeletes(directory: string, answerer: Answerer, log: Logger): Promise<void> {
  for (const name of filesIn(directory)) {
    const path = join(directory, name);
    const problem = await replay(path, answerer);
    if (problem !== undefined) log.warn('cannot replay a DEL that the plugin left', { path, problem });
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

async function replay(path: string, answerer: Answerer): Promise<string | undefined> {
  try {
    const call = parseCall(JSON.parse(readFileSync(path, 'utf8')));
    if (call === undefined || call.env['CNI_COMMAND'] !== 'DEL') return 'it holds no DEL';
    const { exit, out } = await answerer.answer(call, never);
    if (exit !== 0) return out.trim();
    rmSync(path, { force: true });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
