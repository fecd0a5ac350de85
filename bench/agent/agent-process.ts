// An agent of one node as a process of its own, with a socket that this process asks.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { RigChild } from '../../rig/child-process.ts';
import { confOf, type Contender, environmentOf, subnet, type Verb } from './plugin-calls.ts';

export class AgentProcess {
  readonly directory: string;
  readonly #flags: readonly string[];
  readonly #connections = new Agent({ keepAlive: true, maxSockets: 16 });
  #child: RigChild | undefined;

  /** `flags`: in place of those of host-scope. */
  constructor(flags: readonly string[] = ['--ipam=host-scope', `--ipv4-range=${subnet}`]) {
    this.directory = mkdtempSync(join(tmpdir(), 'headwater-agent-bench-'));
    this.#flags = flags;
  }

  get socket(): string {
    return join(this.directory, 'run/agent.sock');
  }

  /** Resolves to the ms of CPU that it has taken once it serves. */
  async start(): Promise<number> {
    const places = [`--socket-path=${this.socket}`, `--state-dir=${join(this.directory, 'state')}`];
    const child = new RigChild({
      name: 'the agent',
      args: ['agent', ...places, ...this.#flags],
      bound: true,
    });
    this.#child = child;
    await child.waitForLine((line) => (line.includes('"msg":"serving"') ? line : undefined));
    return cpuTime(child.pid ?? 0);
  }

  async stop(): Promise<void> {
    await this.#child?.stop();
    this.#connections.destroy();
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true });
  }

  /** The body of an answer; rejects if it is none of 2xx. */
  ask(method: string, path: string, body = ''): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-length': Buffer.byteLength(body) };
      const options = { socketPath: this.socket, path, method, agent: this.#connections, headers };
      const asked = request(options, (answer) => {
        text(answer).then((said) => {
          if (answer.statusCode !== undefined && answer.statusCode < 300) resolve(said);
          else reject(new Error(`${method} ${path}: ${answer.statusCode} ${said}`));
        }, reject);
      });
      asked.once('error', reject);
      asked.end(body);
    });
  }

  /** Attaches or deletes containers without a plugin. */
  async many(
    verb: Verb,
    from: number,
    to: number,
    { name, ipam }: Pick<Contender, 'name' | 'ipam'>,
  ): Promise<void> {
    const ids = Array.from({ length: to - from }, (_, index) => `filler-${from + index}`).values();
    const work = async (): Promise<void> => {
      for (const id of ids) {
        const env = environmentOf(verb, id);
        await this.ask('POST', '/v1/cni', JSON.stringify({ env, stdin: confOf({ name, ipam }) }));
      }
    };
    await Promise.all(Array.from({ length: 16 }, work));
  }

  /** Bytes that it has resident. */
  get resident(): number {
    return residentBytes(this.#child?.pid ?? 0);
  }

  /** Files of the record, and how long each is. */
  record(): ReadonlyMap<string, number> {
    const state = join(this.directory, 'state');
    const entries = readdirSync(state, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    return new Map(
      entries.map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path, statSync(path).size];
      }),
    );
  }
}

export function residentBytes(pid: number): number {
  const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

/** In ms, of all threads of a process. */
function cpuTime(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const times = readdirSync(tasks).map((task) => readFileSync(join(tasks, task, 'schedstat'), 'utf8'));
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6;
}

/** Memory of a Node.js process that does nothing, in bytes. */
export async function emptyNodeBytes(): Promise<number> {
  const child = spawn(process.execPath, ['--eval', "setInterval(() => {}, 1e6); console.log('on')"], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const resident = residentBytes(child.pid ?? 0);
  child.kill();
  await once(child, 'exit');
  return resident;
}

/** Ms of CPU that a Node.js needs to read and parse the record. */
export async function readingTime(paths: Iterable<string>): Promise<number> {
  const script = `
    const { readFileSync } = require('node:fs');
    const start = process.cpuUsage();
    let lines = 0;
    for (const path of process.argv.slice(1))
      for (const line of readFileSync(path, 'utf8').split('\\n')) if (line !== '') lines += JSON.parse(line) ? 1 : 0;
    const { user, system } = process.cpuUsage(start);
    console.log((user + system) / 1000);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script, ...paths]);
  return Number(stdout);
}
