// A directory for the files of one test file. After each test its processes and servers end; after the last one the
// directory is deleted.
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAll } from './child.ts';

export interface TestDirectory {
  /** Path of the directory; it exists while tests run. */
  readonly path: string;
  /** Writes a file; resolves with its path. */
  readonly file: (name: string, text: string, mode?: number) => Promise<string>;
  /** Closes these after the test, when its processes have ended. */
  readonly closeLater: (...closes: readonly (() => Promise<void>)[]) => void;
}

/** Call it once, at the top of a test file. */
export function testDirectory(name: string): TestDirectory {
  let path = '';
  const later: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), `headwater-${name}-`));
  });
  afterEach(async () => {
    await endAll();
    for (const close of later.splice(0)) await close();
  });
  afterAll(() => rm(path, { recursive: true }));
  return {
    get path() {
      return path;
    },
    file: async (fileName, text, mode = 0o644) => {
      const filePath = join(path, fileName);
      await writeFile(filePath, text);
      await chmod(filePath, mode);
      return filePath;
    },
    closeLater: (...closes) => {
      later.push(...closes);
    },
  };
}
