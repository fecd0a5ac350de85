// Access to the outside of this process: the only file that reads process.env and, for options, the file system.
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import type { ProcessEnvironment } from './option-row.ts';

export const thisProcess: ProcessEnvironment = {
  environment: process.env,
  readFile: (path) => readFileSync(path, 'utf8'),
  readDirectory: (path) => readdirSync(path),
};

/**
 * Sets a home directory if the environment has none, as for a user without a name, the way container runtimes
 * do. The AWS SDK looks for ~/.aws before each call and fails without a home.
 */
export function haveHome(): void {
  try {
    homedir();
  } catch {
    process.env['HOME'] = '/';
  }
}
