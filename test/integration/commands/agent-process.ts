// headwater agent as a process with a directory of its own, and a client of its socket.
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Child } from './child.ts';

export interface Asked {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number | undefined;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
}

export class AgentProcess {
  readonly socket: string;
  readonly args: readonly string[];
  #child: Child | undefined;

  /** `place`: a directory for its files. `flags`: later ones win over its places. */
  constructor(place: string, flags: readonly string[]) {
    this.socket = join(place, 'agent.sock');
    this.args = ['agent', `--socket-path=${this.socket}`, `--state-dir=${join(place, 'state')}`, ...flags];
  }

  get child(): Child {
    if (this.#child === undefined) throw new Error('no agent was started');
    return this.#child;
  }

  /** Resolves once it serves. */
  async start(): Promise<Child> {
    this.#child = new Child(this.args);
    await this.#child.said(/"msg":"serving"/);
    return this.#child;
  }

  ask(method: string, path: string, { body = '', headers = {} }: Asked = {}): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath: this.socket, path, method, headers }, (answer) => {
        const isJson = answer.headers['content-type'] === 'application/json';
        text(answer).then((all) => {
          const read: unknown = isJson && all !== '' ? JSON.parse(all) : all;
          resolve({ status: answer.statusCode, body: read, headers: answer.headers });
        }, reject);
      });
      asked.once('error', reject);
      asked.end(body);
    });
  }
}

/** What the plugin sends for a container of the network `pods`. */
export function cniCall(verb: string, container = 'c1', ipam: object = {}, args = ''): Asked {
  const env = {
    CNI_COMMAND: verb,
    CNI_CONTAINERID: container,
    CNI_NETNS: '/n',
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/p',
    ...(args !== '' && { CNI_ARGS: args }),
  };
  return {
    body: JSON.stringify({ env, stdin: JSON.stringify({ cniVersion: '1.1.0', name: 'pods', ipam }) }),
  };
}

/** A TCP port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
