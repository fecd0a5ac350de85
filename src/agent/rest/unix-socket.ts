// Sockets of which only one process may be the listener. A name in the kernel's own space is the lock: it is free again when
// its holder ends, however it ends, so a socket file without a listener can be replaced.
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';

export type Held = { readonly kind: 'held'; readonly release: () => void } | { readonly kind: 'taken' };

/** Takes the name of a path for this process, as long as it lives. `path` need not exist. Rejects with what Node.js says. */
export function holdPath(path: string): Promise<Held> {
  const name = createHash('sha256')
    .update(realPathOf(resolve(path)))
    .digest('hex');
  const server = createServer((socket) => socket.destroy());
  return new Promise((settle, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') settle({ kind: 'taken' });
      else reject(error);
    });
    server.listen(`\0headwater-agent-${name}`, () => {
      server.unref();
      settle({ kind: 'held', release: () => server.close() });
    });
  });
}

/** Without symbolic links, as far as the path exists. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}

/** Listens on a socket whose path this process holds; returns what prevents it. */
export async function listenOn(server: Server, path: string): Promise<string | undefined> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    if (await hasListener(path)) return `another process listens on ${path}`;
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isSocket())
      return `${path} is no socket: remove it, or set another path`;
    rmSync(path, { force: true });
  } catch (error) {
    return (error as Error).message;
  }
  return new Promise((settle) => {
    server.once('error', (error) => settle(`cannot listen on ${path}: ${error.message}`));
    // Members of the group may connect: the socket gives and takes addresses of pods.
    const umask = process.umask(0o117);
    server.listen(path, () => settle(undefined));
    process.umask(umask);
  });
}

function hasListener(path: string): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', () => settle(false));
  });
}
