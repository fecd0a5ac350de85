// A lock that one process holds as long as it lives, however it ends: a directory with a socket on which its holder listens.
// Unlike a name in the kernel's own space, it is the same in every network namespace. Its path may have any length.
//
// A starter listens in a directory of its own, and then renames that to the lock. The kernel does so only where there is no lock,
// or an empty one, so of two starters one succeeds. A socket that refuses connections has lost its listener for ever, and nobody
// gets its name again, so any starter may remove it from the lock, however late.
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { isFull } from './record/reserve.ts';

export type PathLock =
  | { readonly kind: 'held'; readonly release: () => void }
  /** By a process that lives. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed'; readonly error: NodeJS.ErrnoException };

/**
 * Takes the lock at `path` for this process. `folderMode`: of its folder, if that does not exist yet. `makeRoom` is called if the
 * disk is full and nobody has the lock; it returns whether there is more room.
 */
export async function lockPath(
  path: string,
  folderMode: number,
  makeRoom: () => boolean = () => false,
): Promise<PathLock> {
  const server = createServer((socket) => socket.destroy());
  try {
    mkdirSync(dirname(path), { recursive: true, mode: folderMode });
    const own = mkdtempSync(starterPrefix(path));
    if (await take(path, own, server)) {
      await removeLeftovers(path);
      server.unref();
      return { kind: 'held', release: () => release(server, join(path, basename(own))) };
    }
    release(server, own);
    return { kind: 'taken' };
  } catch (error) {
    server.close();
    if (isFull(error as Error) && (await isFree(path)) && makeRoom()) return lockPath(path, folderMode);
    return { kind: 'failed', error: error as Error };
  }
}

function release(server: Server, path: string): void {
  rmSync(path, { recursive: true, force: true });
  server.close();
}

/** The prefix of the paths at which processes prepare to take the lock. */
function starterPrefix(path: string): string {
  return `${path}.starter-`;
}

/** Whether the lock is ours; else a process that lives has it. */
async function take(path: string, own: string, server: Server): Promise<boolean> {
  try {
    await listen(server, own);
    do if (moveTo(path, own)) return true;
    while (await clear(path));
    return false;
  } catch (error) {
    // The holder of the lock takes a starter that does not listen yet for a leftover, and removes its path.
    if (existsSync(own)) throw error;
    return false;
  }
}

/** Returns whether there was no lock, or an empty one. */
function moveTo(path: string, own: string): boolean {
  try {
    renameSync(own, path);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Removes sockets without a listener from the lock; returns whether nothing else is in it. */
async function clear(path: string): Promise<boolean> {
  for (const name of readdirSync(path)) {
    if (await hasListener(path, name)) return false;
    rmSync(join(path, name), { force: true });
  }
  return true;
}

async function isFree(path: string): Promise<boolean> {
  try {
    return await clear(path);
  } catch {
    return false;
  }
}

/** Removes paths of processes that were killed while they were taking the lock. */
async function removeLeftovers(path: string): Promise<void> {
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    const isStarter = name.startsWith(basename(starterPrefix(path)));
    if (isStarter && !(await hasListener(join(folder, name), name)))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function listen(server: Server, own: string): Promise<void> {
  return atShortPath(own, basename(own), (short) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen(short, resolve);
    return promise;
  });
}

async function hasListener(directory: string, name: string): Promise<boolean> {
  try {
    await atShortPath(directory, name, (short) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const socket = connect(short, () => {
        socket.destroy();
        resolve();
      });
      socket.once('error', reject);
      return promise;
    });
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // The backlog of the listener is full.
    if (code === 'EAGAIN') return true;
    // The socket is being closed, so the answer may be different a moment later.
    if (code === 'ECONNRESET') return hasListener(directory, name);
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return false;
    throw error;
  }
}

/** The path of a socket may have 107 bytes, however long that of its directory is. */
async function atShortPath<T>(
  directory: string,
  name: string,
  use: (short: string) => Promise<T>,
): Promise<T> {
  const open = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await use(`/proc/self/fd/${open}/${name}`);
  } finally {
    closeSync(open);
  }
}
