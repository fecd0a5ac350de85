// A copy of the sources with a mutant applied.
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutant.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Returns the directory of the copy. Throws if a place to edit does not occur exactly once. */
export function createMutatedCopy({ name, edits }: Mutant): string {
  const copy = mkdtempSync(join(tmpdir(), 'mutant-'));
  for (const part of ['src', 'test/simulation', 'test/support', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const { file, from, to } of edits) {
    const path = join(copy, 'src', file);
    const pieces = readFileSync(path, 'utf8').split(from);
    if (pieces.length !== 2)
      throw new Error(`${name}: ${file} contains ${pieces.length - 1} times the text to edit: ${from}`);
    writeFileSync(path, pieces.join(to));
  }
  return copy;
}
