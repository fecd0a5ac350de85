// Measures the CNI plugin and the agent against host-local, on this machine, one after the other in one run:
//
//   node test/cni/measure.ts [--calls N]
//
// It prints milliseconds from the start of the program that a runtime calls to its end, memory and size. Run
// `npm run test:cni` before: that builds the programs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { RigChild } from '../../rig/child-process.ts';
import { sleep } from '../../src/runtime/clock.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { pathOfProgram } from '../support/go-program.ts';
import { cniPrograms } from './rig/cni-programs.ts';

const root = join(import.meta.dirname, '../..');
const calls = Number(process.argv[process.argv.indexOf('--calls') + 1]) || 1000;
const directory = mkdtempSync(join(tmpdir(), 'headwater-measure-'));
const socket = join(directory, 'agent.sock');

interface Contender {
  readonly name: string;
  readonly program: string;
  readonly ipam: object;
}

const subnet = '10.64.0.0/16';
const hostLocal = cniPrograms.find(({ name }) => name === 'host-local');
const contenders: readonly Contender[] = [
  { name: 'headwater-ipam', program: join(root, 'plugin/dist/headwater-ipam'), ipam: { socket } },
  {
    name: 'host-local',
    program: hostLocal === undefined ? '' : await pathOfProgram(hostLocal, process.env),
    ipam: { ranges: [[{ subnet }]], dataDir: join(directory, 'networks') },
  },
];

function call({ program, name, ipam }: Contender, verb: string, container: string): Promise<number> {
  const conf = { cniVersion: '1.0.0', name: 'pods', type: 'ptp', ipam: { type: name, ...ipam } };
  const env = {
    CNI_COMMAND: verb,
    CNI_CONTAINERID: container,
    CNI_NETNS: '/var/run/netns/x',
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/opt/cni/bin',
  };
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(program, [], { env, stdio: ['pipe', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve(performance.now() - start);
      else reject(new Error(`${name} ${verb} ${container} failed`));
    });
    child.stdin.end(JSON.stringify(conf));
  });
}

function percentiles(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function measure(contender: Contender): Promise<void> {
  const ids = Array.from({ length: calls }, (_, index) => `c${index}`);
  for (const verb of ['ADD', 'DEL']) {
    const times: number[] = [];
    for (const id of ids) times.push(await call(contender, verb, id));
    say(`${contender.name}: ${calls} ${verb} one after another: ${percentiles(times)}`);
  }
  for (const verb of ['ADD', 'DEL']) {
    const times: number[] = [];
    for (let round = 0; round < 10; round++) {
      times.push(
        ...(await Promise.all(ids.slice(0, 30).map((id) => call(contender, verb, `${id}-${round}`)))),
      );
    }
    say(`${contender.name}: 30 ${verb} at once, ten times: ${percentiles(times)}`);
  }
}

/** KiB while it waits for the end of its input. */
async function memoryOf({ program, ipam, name }: Contender): Promise<string> {
  const conf = JSON.stringify({ cniVersion: '1.0.0', name: 'pods', ipam: { type: name, ...ipam } });
  const child = spawn(program, [], { env: { CNI_COMMAND: 'VERSION' }, stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.write(conf);
  await sleep(systemClock, 500, new AbortController().signal);
  const resident = residentKiB(child.pid ?? 0);
  child.stdin.end();
  await once(child, 'exit');
  return resident;
}

function residentKiB(pid: number): string {
  return /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '?';
}

const agent = new RigChild({
  name: 'the agent',
  args: [
    'agent',
    '--ipam=host-scope',
    `--ipv4-range=${subnet}`,
    `--socket-path=${socket}`,
    `--state-dir=${join(directory, 'state')}`,
  ],
  bound: true,
});
try {
  await agent.waitForLine((line) => (line.includes('"msg":"serving"') ? line : undefined));
  say(`agent: ${residentKiB(agent.pid)} KiB resident once it serves`);
  for (const contender of contenders) {
    say(
      `${contender.name}: ${statSync(contender.program).size} bytes, ${await memoryOf(contender)} KiB resident`,
    );
    await measure(contender);
  }
  say(`agent: ${residentKiB(agent.pid)} KiB resident at the end`);
} finally {
  await agent.stop();
  rmSync(directory, { recursive: true });
}
