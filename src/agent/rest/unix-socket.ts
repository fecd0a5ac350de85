// Sockets in files. One whose listener was killed stays, and is replaced.
import { lstatSync, rmSync } from 'node:fs';
import { connect, type Server } from 'node:net';

/** Listens on a path that this process has locked, in a folder that exists; returns what prevents it. */
export async function listenOn(server: Server, path: string): Promise<string | undefined> {
  try {
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
