// cnitool and the reference plugins, built from their Go modules, and a small runtime of our own on libcni.
import { join } from 'node:path';
import type { GoProgram } from '../../support/go-program.ts';

const sources = join(import.meta.dirname, '../programs');

function program(name: string, version: string, path: string): GoProgram {
  return {
    name,
    version,
    sources,
    package: path,
    files: ['go.mod', 'go.sum', 'programs.go'],
    linkerFlags: '-s -w',
  };
}

const cni = 'github.com/containernetworking/cni';
const plugins = 'github.com/containernetworking/plugins/plugins';

const runtime: GoProgram = {
  ...program('runtime', 'v1.3.1', './runtime'),
  files: ['go.mod', 'go.sum', 'runtime/main.go'],
};

/** Versions as in go.mod. */
export const cniPrograms: readonly GoProgram[] = [
  program('cnitool', 'v1.3.1', `${cni}/cnitool`),
  program('ptp', 'v1.10.0', `${plugins}/main/ptp`),
  program('bridge', 'v1.10.0', `${plugins}/main/bridge`),
  program('loopback', 'v1.10.0', `${plugins}/main/loopback`),
  program('portmap', 'v1.10.0', `${plugins}/meta/portmap`),
  program('host-local', 'v1.10.0', `${plugins}/ipam/host-local`),
  runtime,
];
