// The third-party server: one that runs already, or one that this run starts and stops.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { sleep } from '../src/runtime/clock.ts';
import type { ProcessEnvironment } from './process-environment.ts';
import { ThirdPartyEc2 } from './third-party-api.ts';

export const serverKinds = ['localstack', 'moto'] as const;

export type ServerKind = (typeof serverKinds)[number];

export interface Server {
  readonly name: string;
  readonly endpoint: string;
  readonly ec2: ThirdPartyEc2;
  /** The end of its output; empty for a server that ran before. */
  readonly lastWords: () => string;
  readonly stop: () => Promise<void>;
}

/** Why no server is available. */
export interface NoServer {
  readonly missing: string;
}

/** In ms, with the time for the creation of its Python environment. */
const maxStartTime = 180_000;
const maxEndTime = 10_000;
const betweenLooks = 200;

/** The exit code of the start scripts when something is missing. */
const missingExitCode = 3;

/** Connects to a running server. Rejects when it does not answer. */
export async function connectTo(endpoint: string, signal: AbortSignal): Promise<Server> {
  const ec2 = new ThirdPartyEc2(endpoint);
  const problem = await ec2.problem(signal);
  if (problem !== undefined) throw new Error(`nothing at ${endpoint} answers as EC2 does: ${problem}`);
  const stop = (): Promise<void> => Promise.resolve(ec2.close());
  return { name: 'the server that runs', endpoint, ec2, lastWords: () => '', stop };
}

/** Starts the first of these that is installed, and resolves once it answers. Rejects when it starts and does not answer. */
export async function startOneOf(
  kinds: readonly ServerKind[],
  processEnvironment: ProcessEnvironment,
): Promise<Server | NoServer> {
  const missing: string[] = [];
  for (const kind of kinds) {
    const started = await startServer(kind, processEnvironment);
    if (!('missing' in started)) return started;
    missing.push(started.missing);
  }
  return { missing: missing.join('; ') };
}

async function startServer(
  kind: ServerKind,
  processEnvironment: ProcessEnvironment,
): Promise<Server | NoServer> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  processEnvironment.say(
    `starting ${kind}; the first start creates its Python environment, which takes a minute`,
  );
  const running = new ServerProcess(kind, port);
  const ec2 = new ThirdPartyEc2(endpoint);
  const stop = async (): Promise<void> => {
    ec2.close();
    await running.stop(processEnvironment);
  };
  try {
    await untilItAnswers(ec2, running, processEnvironment);
  } catch (error) {
    await stop();
    if (running.exitCode !== missingExitCode) throw error;
    return { missing: running.lastWords().trim().split('\n').at(-1) ?? '' };
  }
  return { name: kind, endpoint, ec2, lastWords: () => running.lastWords(), stop };
}

async function untilItAnswers(
  ec2: ThirdPartyEc2,
  running: ServerProcess,
  { clock, signal }: ProcessEnvironment,
): Promise<void> {
  const deadline = clock.monotonic() + maxStartTime;
  for (;;) {
    const problem = await ec2.problem(signal);
    if (problem === undefined) return;
    const ended = running.exitCode !== undefined;
    if (ended || clock.monotonic() > deadline) {
      const what = ended ? `ended with exit code ${running.exitCode}` : `does not answer: ${problem}`;
      throw new Error(`${running.kind} ${what}\n${running.lastWords()}`);
    }
    await sleep(clock, betweenLooks, signal);
  }
}

/** The process of a start script, which the server replaces. */
class ServerProcess {
  readonly kind: ServerKind;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #words = '';
  #exitCode: number | undefined;

  constructor(kind: ServerKind, port: number) {
    this.kind = kind;
    const script = fileURLToPath(new URL(`start-${kind}.sh`, import.meta.url));
    // A process group of its own, because the script has children while it installs.
    this.#child = spawn(script, [String(port)], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (piece: Buffer) => {
        this.#words = (this.#words + piece.toString()).slice(-4000);
      });
    }
    this.#ended = once(this.#child, 'close').then(([code]: unknown[]) => {
      this.#exitCode = typeof code === 'number' ? code : -1;
    });
  }

  /** Undefined while it runs; -1 when a signal ended it. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  lastWords(): string {
    return this.#words;
  }

  /** Resolves once it has ended. */
  async stop({ clock }: ProcessEnvironment): Promise<void> {
    this.#signal('SIGTERM');
    const cancel = clock.schedule(maxEndTime, () => this.#signal('SIGKILL'));
    await this.#ended;
    cancel();
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#exitCode === undefined && this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
  }
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
