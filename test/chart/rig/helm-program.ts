// The program helm, built from the module that Helm publishes.
import { join } from 'node:path';
import type { GoProgram } from '../../support/go-program.ts';

export const helmProgram: GoProgram = {
  name: 'helm',
  /** The same version as in go.mod. */
  version: 'v4.3.1',
  sources: join(import.meta.dirname, '../servers/helm'),
  package: 'helm.sh/helm/v4/cmd/helm',
  files: ['go.mod', 'go.sum'],
  linkerFlags: '-s -w',
};
