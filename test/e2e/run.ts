// The controller on a real API server: builds kube-apiserver if that is not done yet, then runs the tests of this directory.
//
//   node test/e2e/run.ts [--build-only] [arguments for Jest, such as the path of a test]
//   node test/e2e/run.ts --kills N [--lease 15s] [--nodes N]    only: kills N leaders, and prints how long takeovers took
//
// It names what the machine lacks, with how to get it.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { endedBySignals } from '../../rig/ended-by-signals.ts';
import {
  type Building,
  buildProgram,
  type GoProgram,
  isThere,
  pathOfProgram,
} from '../support/go-program.ts';
import { runJest } from '../support/jest-run.ts';
import { preparePrograms } from '../cni/rig/prepared-programs.ts';
import { apiServerProgram, kubeletProgram, nodeIpamProgram } from './rig/api-server-program.ts';
import {
  busybox,
  containerd,
  etcd,
  go,
  missingPieces,
  type Piece,
  runc,
  setpriv,
} from './rig/missing-pieces.ts';
import { planVariables, takeoverPlan } from './rig/takeover-plan.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Wish {
  /** For Jest. */
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** Takes the options of the takeovers out, for the tests find them in their environment. */
function wishOf(words: readonly string[]): Wish {
  const environment = { ...process.env };
  const args = [...words];
  for (const name of ['kills', 'lease', 'nodes'] as const) {
    const at = args.indexOf(`--${name}`);
    if (at >= 0) environment[planVariables[name]] = args.splice(at, 2)[1] ?? '';
  }
  takeoverPlan(environment);
  return { args: words.includes('--kills') ? [...args, 'scenarios/kills'] : args, environment };
}

async function main(words: readonly string[], signal: AbortSignal): Promise<number> {
  const { args, environment } = wishOf(words);
  const program = await pathOfProgram(apiServerProgram, process.env);
  const isBuilt = await isThere(program);
  const missing = await missingPieces(isBuilt ? [etcd, setpriv] : [etcd, setpriv, go]);
  if (missing.length > 0) {
    say(['the tests on a real API server cannot run:', ...missing].join('\n  '));
    return 1;
  }
  const building = { environment: process.env, signal, say };
  if (!isBuilt) await buildProgram(apiServerProgram, program, building);
  const peer = await builtProgram(
    nodeIpamProgram,
    'comparisons with the node-ipam-controller of Kubernetes',
    building,
  );
  const kubelet = await builtProgram(kubeletProgram, 'nodes with the kubelet of Kubernetes', building, [
    containerd,
    runc,
    busybox,
  ]);
  const cni = await builtCni(building);
  try {
    if (args.includes('--build-only')) return 0;
    return await runJest({
      config: join(import.meta.dirname, 'jest.config.mjs'),
      args,
      environment: {
        ...environment,
        HEADWATER_KUBE_APISERVER: program,
        ...(peer !== undefined && { HEADWATER_NODE_IPAM_CONTROLLER: peer }),
        ...(kubelet !== undefined && { HEADWATER_KUBELET: kubelet }),
        ...(cni !== undefined && { HEADWATER_CNI_PATH: cni }),
      },
      signal,
    });
  } finally {
    if (cni !== undefined) await rm(cni, { recursive: true });
  }
}

/** The directory of cnitool and plugins; undefined if they are not built and cannot be, or have no namespaces here. */
async function builtCni(building: Building): Promise<string | undefined> {
  const programs = await preparePrograms(building);
  if (programs.kind === 'ready') return programs.directory;
  say(`not run: agents in network namespaces (${programs.advice.join('; ')})`);
  return undefined;
}

/** The path of the program; undefined if it cannot be built, or if something lacks that it `needs`. `what` is then not run. */
async function builtProgram(
  program: GoProgram,
  what: string,
  building: Building,
  needs: readonly Piece[] = [],
): Promise<string | undefined> {
  const path = await pathOfProgram(program, building.environment);
  const isBuilt = await isThere(path);
  const advice = await missingPieces(isBuilt ? needs : [...needs, go]);
  if (advice.length > 0) {
    say(`not run: ${what} (${[...new Set(advice)].join('; ')})`);
    return undefined;
  }
  if (!isBuilt) await buildProgram(program, path, building);
  return path;
}

await endedBySignals((signal) => main(process.argv.slice(2), signal));
