// Access to the outside of this process. Configuration comes from here alone: no other file of the controller reads
// process.env, and none reads files for options.
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import type { ProcessEnvironment } from './option-row.ts';

export const thisProcess: ProcessEnvironment = {
  environment: process.env,
  readFile: (path) => readFileSync(path, 'utf8'),
  readDirectory: (path) => readdirSync(path),
};

/**
 * Sets a home directory, as container runtimes do, if the process has none: a user without a name, for example. The AWS
 * SDK looks for ~/.aws before each call and fails without a home.
 */
export function haveHome(): void {
  try {
    homedir();
  } catch {
    process.env['HOME'] = '/';
  }
}
