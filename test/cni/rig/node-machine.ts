// A network namespace that plays a node, with namespaces that play its pods, and an agent that serves them. cnitool runs as a
// container runtime does: in the namespace of the node, with the plugins of HEADWATER_CNI_PATH.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Child } from '../../integration/commands/child.ts';

export const cniPath = process.env['HEADWATER_CNI_PATH'] ?? '';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const environment = { PATH: process.env['PATH'], ...env };
  return new Promise((resolve) => {
    execFile(program, args, { env: environment }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, out, err });
    });
  });
}

/** Rejects with what the program said if it fails. */
export async function must(program: string, ...args: readonly string[]): Promise<void> {
  const { code, err } = await run(program, args);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${err}`);
}

let machines = 0;

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export class NodeMachine {
  readonly name: string;
  readonly directory: string;
  readonly #pods: string[] = [];
  readonly #flags: readonly string[];
  #agent: Child | undefined;

  private constructor(name: string, directory: string, flags: readonly string[]) {
    this.name = name;
    this.directory = directory;
    this.#flags = flags;
  }

  /** `flags`: the flags of the agent, besides the places of its files. */
  static async create(flags: readonly string[]): Promise<NodeMachine> {
    const name = `hw-${process.pid}-${machines++}`;
    const directory = await mkdtemp(join(tmpdir(), 'headwater-node-'));
    await mkdir(join(directory, 'net.d'));
    await must('ip', 'netns', 'add', name);
    await must('ip', '-n', name, 'link', 'set', 'lo', 'up');
    return new NodeMachine(name, directory, flags);
  }

  get socket(): string {
    return join(this.directory, 'run', 'agent.sock');
  }

  get agent(): Child {
    if (this.#agent === undefined) throw new Error('no agent was started');
    return this.#agent;
  }

  /** Resolves once it serves. */
  async startAgent(): Promise<void> {
    const places = [`--socket-path=${this.socket}`, `--state-dir=${join(this.directory, 'state')}`];
    this.#agent = new Child(['agent', ...places, ...this.#flags]);
    await this.#agent.said(/"msg":"serving"/);
  }

  /** Writes a network; its `ipam` names the socket of this node. */
  async network(
    name: string,
    conf: Readonly<Record<string, unknown>>,
    ipam: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const own = { type: 'headwater-ipam', socket: this.socket, ...ipam };
    const plugin = { ...conf, ipam: own };
    const list = { cniVersion: '1.1.0', name, plugins: [plugin] };
    await writeFile(join(this.directory, 'net.d', `${name}.conflist`), JSON.stringify(list));
  }

  /** A namespace for a pod. */
  async pod(): Promise<string> {
    const name = `${this.name}-p${this.#pods.length}`;
    this.#pods.push(name);
    await must('ip', 'netns', 'add', name);
    return name;
  }

  /** `verb`: add, check, del, gc or status. */
  cnitool(verb: string, network: string, pod: string, args = ''): Promise<Ran> {
    const words = ['netns', 'exec', this.name, join(cniPath, 'cnitool'), verb, network];
    return run('ip', [...words, `/var/run/netns/${pod}`], {
      NETCONFPATH: join(this.directory, 'net.d'),
      CNI_PATH: cniPath,
      CNI_ARGS: args,
    });
  }

  /** Calls the plugin as a main plugin does. */
  plugin(env: Readonly<Record<string, string>>, stdin: unknown): Promise<Ran> {
    return new Promise((resolve) => {
      const child = execFile(
        join(cniPath, 'headwater-ipam'),
        [],
        { env: { CNI_PATH: cniPath, ...env } },
        (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
      );
      // It stops reading what is too long.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(typeof stdin === 'string' ? stdin : JSON.stringify(stdin));
    });
  }

  /** Calls the plugin and kills it: `delay` turns of the event loop after its input was written. */
  async killedPlugin(verb: string, container: string, delay: number): Promise<void> {
    const names = { CNI_CONTAINERID: container, CNI_NETNS: '/n', CNI_IFNAME: 'eth0' };
    const child = spawn(join(cniPath, 'headwater-ipam'), [], {
      env: { CNI_PATH: cniPath, CNI_COMMAND: verb, ...names },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const exited = once(child, 'exit');
    child.stdin.on('error', () => undefined);
    child.stdin.end(
      JSON.stringify({
        cniVersion: '1.1.0',
        name: 'pods',
        ipam: { type: 'headwater-ipam', socket: this.socket },
      }),
    );
    for (let turn = 0; turn < delay; turn++) await new Promise((resolve) => void setImmediate(resolve));
    child.kill('SIGKILL');
    await exited;
  }

  /** Repeats until an answer comes: a new IPv6 address is not usable at once. */
  ping(pod: string, address: string): Promise<Ran> {
    return run('ip', ['netns', 'exec', pod, 'ping', '-c', '1', '-w', '20', address]);
  }

  /** What the agent answers on its socket. */
  ask(path: string, method = 'GET'): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath: this.socket, path, method }, (answer) => {
        text(answer).then(
          (body) => resolve({ status: answer.statusCode ?? 0, body: body === '' ? '' : JSON.parse(body) }),
          reject,
        );
      });
      asked.once('error', reject);
      asked.end();
    });
  }

  /** Every address that the record has. */
  async held(): Promise<readonly string[]> {
    const { body } = await this.ask('/v1/ipam');
    return Object.keys((body as { addresses: object }).addresses).toSorted();
  }

  read(path: string): Promise<string> {
    return readFile(join(this.directory, path), 'utf8');
  }

  async remove(): Promise<void> {
    await this.#agent?.stop('SIGKILL');
    for (const name of [...this.#pods, this.name]) await run('ip', ['netns', 'del', name]);
    await rm(this.directory, { recursive: true, force: true });
  }
}
