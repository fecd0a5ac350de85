// Where the option audit leads: a file, or standard output, whose loss ends the process elsewhere.
import { NotStartable } from '../controller/clouds/cloud.ts';
import type { AuditLines } from '../controller/reporting/change-audit.ts';
import { LineFile } from '../observability/line-file.ts';

/** Undefined if there is no audit. Throws NotStartable if it cannot be written. */
export function auditLines(path: string | undefined): AuditLines | undefined {
  if (path === undefined) return undefined;
  if (path === '-') return { append: (line) => void process.stdout.write(`${line}\n`) };
  try {
    return new LineFile(path);
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const why = refusals[code] ?? `opening it failed (${code})`;
    const remedy = 'name a file in a directory that this process may write, or - for standard output';
    throw new NotStartable(`--audit=${path} cannot be written, because ${why}: ${remedy}`, {
      kind: 'usage',
      cause,
    });
  }
}

const refusals: Readonly<Record<string, string>> = {
  EACCES: 'this process may not write it',
  EISDIR: 'it is a directory',
  ENOENT: 'its directory does not exist',
  ENOSPC: 'its disk is full',
  ENOTDIR: 'a part of its path is a file',
  ENXIO: 'it is a pipe without a reader',
  EPERM: 'this process may not write it',
  EROFS: 'its file system is read-only',
};
