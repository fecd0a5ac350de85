// Reads the directory that holds one file per option, as Kubernetes mounts a ConfigMap: names are symbolic links into
// ..data, and most of them belong to somebody else. A file that is no option of ours is never opened.
import { failureInWords } from './failure-in-words.ts';
import type { Surroundings } from './option-row.ts';
import { optionNames, optionTable, type OptionName } from './option-table.ts';

export interface ConfigDirectory {
  /** Trimmed texts of the files that count, with their paths. */
  readonly files: ReadonlyMap<OptionName, ConfigFile>;
  /** What could not be read. */
  readonly failures: readonly ReadFailure[];
}

export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

export interface ReadFailure {
  /** Undefined when it is the directory itself. */
  readonly name: OptionName | undefined;
  readonly path: string;
  /** To stand after "because". */
  readonly because: string;
}

/** `names`: the options whose files are opened. */
export function readConfigDirectory(
  directory: string,
  surroundings: Surroundings,
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

  const present = new Set(attempt(undefined, directory, () => surroundings.readDirectory(directory)));
  for (const name of names.filter((name) => present.has(name) && optionTable[name].fromConfigDir)) {
    const path = `${directory.replace(/\/+$/, '')}/${name}`;
    const text = attempt(name, path, () => surroundings.readFile(path));
    if (text !== undefined) files.set(name, { path, text: text.trim() });
  }
  return { files, failures };
}
