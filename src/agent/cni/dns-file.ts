// Reads the file that `ipam.resolvConf` names. The author of a network names it, so it is read only in directories that the
// operator allows, and nothing but a small file: a pipe would never end, and a device would fill the memory.
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { isAbsolute, sep } from 'node:path';

const maxBytes = 64 * 1024;

/** Rejects with why it cannot be read. `directories`: those that are allowed; a link counts as what it leads to. */
export async function readDnsFile(path: string, directories: readonly string[]): Promise<string> {
  if (!isAbsolute(path)) throw new Error(`${path} is no absolute path`);
  const real = await realpath(path);
  const allowed = await Promise.all(directories.map((each) => realpath(each).catch(() => undefined)));
  if (!allowed.some((each) => each !== undefined && isBelow(real, each))) {
    const where = `accepted are files below ${directories.join(' and ')}`;
    throw new Error(`${path} is ${real}, and ${where}: see --resolv-conf-directories`);
  }
  // Otherwise to open a pipe waits for its writer.
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    return await readWhole(path, file);
  } finally {
    await file.close();
  }
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`);
}

async function readWhole(path: string, file: FileHandle): Promise<string> {
  if (!(await file.stat()).isFile()) throw new Error(`${path} is no regular file`);
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  // The size that the kernel says of a file in /proc is no bound.
  for (let isOver = false; !isOver && length <= maxBytes; ) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    isOver = bytesRead === 0;
    length += bytesRead;
  }
  if (length > maxBytes) throw new Error(`${path} has more than ${maxBytes} bytes`);
  return buffer.toString('utf8', 0, length);
}
