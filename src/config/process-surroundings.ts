// The outside of this very process: the one place that reads process.env and, for options, the file system.
import { readdirSync, readFileSync } from 'node:fs';
import type { Surroundings } from './option-row.ts';

export const processSurroundings: Surroundings = {
  environment: process.env,
  readFile: (path) => readFileSync(path, 'utf8'),
  readDirectory: (path) => readdirSync(path),
};
