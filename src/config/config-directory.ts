// Reads a directory with one file per option, as Kubernetes mounts a ConfigMap: names are symbolic links into ..data,
// and most belong to other programs. It never opens a file that is not one of our options.
import type { ProcessEnvironment } from './option-row.ts';
import { optionNames, optionTable, type OptionName } from './option-table.ts';

export interface ConfigDirectory {
  readonly path: string;
  /** Entries, also those that are for another program. */
  readonly names: ReadonlySet<string>;
  /** Trimmed texts of the relevant files, with their paths. */
  readonly files: ReadonlyMap<OptionName, ConfigFile>;
  /** Entries that were unreadable. */
  readonly failures: readonly ReadFailure[];
}

export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

export interface ReadFailure {
  /** Undefined for the directory itself. */
  readonly name: OptionName | undefined;
  readonly path: string;
  /** Worded to follow "because". */
  readonly because: string;
}

/** `names`: the options whose files to open. */
export function readConfigDirectory(
  directory: string,
  processEnvironment: ProcessEnvironment,
  names: readonly OptionName[] = optionNames,
): ConfigDirectory {
  const files = new Map<OptionName, ConfigFile>();
  const failures: ReadFailure[] = [];
  const attempt = <T>(name: OptionName | undefined, path: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      failures.push({ name, path, because: failureInWords(error) });
      return undefined;
    }
  };

  const present = new Set(attempt(undefined, directory, () => processEnvironment.readDirectory(directory)));
  for (const name of names.filter((name) => present.has(name) && optionTable[name].fromConfigDir)) {
    const path = `${directory.replace(/\/+$/, '')}/${name}`;
    const text = attempt(name, path, () => processEnvironment.readFile(path));
    if (text !== undefined) files.set(name, { path, text: text.trim() });
  }
  return { path: directory, names: present, files, failures };
}

/** Why a file or directory is unreadable, worded to follow "because". */
export function failureInWords(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return 'it does not exist';
    case 'ENOTDIR':
      return 'it is not a directory';
    case 'EISDIR':
      return 'it is a directory';
    case 'EACCES':
    case 'EPERM':
      return 'this process may not read it';
    default:
      return `reading it failed (${code ?? String(error)})`;
  }
}
