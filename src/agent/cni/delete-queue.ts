// DELs that the plugin left in files because no agent answered. Each is replayed before the agent serves, before an ADD of its
// interface, and at intervals: the agent may have hung, or a DEL have failed for a reason that passes, such as a full disk. A file
// goes once its DEL is answered: done, or refused.
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '../../observability/logger.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { objectIn, textAt } from '../../runtime/json.ts';
import { untilAborted } from '../../runtime/race-abort.ts';
import { type Answerer, type CniAnswer, type CniCall, parseCall } from './answerer.ts';
import { cniCode, cniErrorText } from './cni-error.ts';
import { readInvocation } from './invocation.ts';

/** The plugin writes no more. */
const maxFiles = 4096;

/** The length limit of a call, in bytes: the plugin sends none that is longer. */
const maxBytes = 2 ** 20;

/** The time between two replays, in ms. */
const replayInterval = 30_000;

const never = new AbortController().signal;

/** Agents whose sockets are in one folder share the directory. */
export interface QueuePlace {
  readonly directory: string;
  /** The socket that a DEL of this agent was for, without its folder, which may have several paths. */
  readonly socketName: string;
}

/** The socket of a network that names none. The plugin has the same default. */
const defaultSocketName = 'agent.sock';

/** The queue is a directory beside the socket, where the plugin finds it. */
export function deleteQueueOf(socketPath: string): QueuePlace {
  return { directory: join(dirname(socketPath), 'deleteQueue'), socketName: basename(socketPath) };
}

export class DeleteQueue {
  readonly #place: QueuePlace;
  readonly #answerer: Pick<Answerer, 'answer'>;
  readonly #log: Logger;
  /** The problem that was logged for each file that stays or was refused. */
  #told: ReadonlyMap<string, string> = new Map();
  /** The interface of each DEL that was read, by the name of its file, which is that of its content. */
  readonly #interfaces = new Map<string, string>();

  constructor(place: QueuePlace, answerer: Pick<Answerer, 'answer'>, log: Logger) {
    this.#place = place;
    this.#answerer = answerer;
    this.#log = log;
  }

  /** Answers a call, an ADD after the DELs of its interface that wait: a later one would release what the ADD gets. */
  async answer(call: CniCall, signal: AbortSignal): Promise<CniAnswer> {
    const problem = call.env['CNI_COMMAND'] === 'ADD' ? await this.#replayOf(interfaceIn(call)) : undefined;
    return problem === undefined ? this.#answerer.answer(call, signal) : refusal(call, problem);
  }

  /**
   * Replays what is in the queue for this agent. A DEL that the agent refuses is logged, and leaves; a file that holds none, or
   * that cannot be read or removed, is logged, and stays.
   */
  async replay(): Promise<void> {
    const { directory } = this.#place;
    const problems = new Map<string, string>();
    const names = filesIn(directory);
    for (const name of this.#interfaces.keys()) if (!names.includes(name)) this.#interfaces.delete(name);
    for (const name of names) {
      const failure = await this.#replayFile(name);
      if (failure === undefined) continue;
      const { kind, problem } = failure;
      const path = join(directory, name);
      problems.set(path, problem);
      const what = kind === 'refused' ? 'refused' : 'cannot replay';
      if (this.#told.get(path) !== problem)
        this.#log.warn(`${what} a DEL that the plugin left`, { path, problem });
    }
    this.#told = problems;
  }

  /** Replays at intervals until `signal` aborts. */
  async run(clock: Clock, signal: AbortSignal): Promise<void> {
    await untilAborted(signal, async () => {
      for (;;) {
        await sleep(clock, replayInterval, signal);
        await this.replay();
      }
    });
  }

  /** Returns what prevents it. */
  async #replayOf(wanted: string): Promise<string | undefined> {
    const { directory } = this.#place;
    for (const name of filesIn(directory)) {
      if (this.#interfaceOf(name) !== wanted) continue;
      const failure = await this.#replayFile(name);
      if (failure?.kind === 'stays')
        return `a DEL of this container waits in ${join(directory, name)}: ${failure.problem}`;
    }
    return undefined;
  }

  /** Undefined if its file has no DEL, or cannot be read. */
  #interfaceOf(name: string): string | undefined {
    const known = this.#interfaces.get(name);
    if (known !== undefined) return known;
    try {
      const call = parseCall(textOf(join(this.#place.directory, name)));
      if (call !== undefined) this.#interfaces.set(name, interfaceIn(call));
    } catch {
      return undefined;
    }
    return this.#interfaces.get(name);
  }

  async #replayFile(name: string): Promise<Failure | undefined> {
    const { directory, socketName } = this.#place;
    const path = join(directory, name);
    try {
      const call = parseCall(textOf(path));
      if (call === undefined || call.env['CNI_COMMAND'] !== 'DEL')
        return { kind: 'stays', problem: 'it holds no DEL' };
      if (socketNameIn(call.stdin) !== socketName) return undefined;
      const { exit, out } = await this.#answerer.answer(call, never);
      const isTried = exit === 0 || (JSON.parse(out) as { readonly code: number }).code !== cniCode.tryAgain;
      if (!isTried) return { kind: 'stays', problem: out.trim() };
      rmSync(path, { force: true });
      return exit === 0 ? undefined : { kind: 'refused', problem: out.trim() };
    } catch (error) {
      return { kind: 'stays', problem: (error as Error).message };
    }
  }
}

/** The interface of a container, without its network: a waiting DEL is due in each network. */
function interfaceIn({ env }: CniCall): string {
  return `${env['CNI_CONTAINERID'] ?? ''}/${env['CNI_IFNAME'] ?? ''}`;
}

function refusal({ env, stdin }: CniCall, message: string): CniAnswer {
  const read = readInvocation(env, stdin);
  const { version } = read.kind === 'refused' ? read : read.invocation.conf;
  return { exit: 1, out: cniErrorText(version, { code: cniCode.tryAgain, message }) };
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => /^[\da-f]{64}\.delete$/.test(name))
      .slice(0, maxFiles);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

interface Failure {
  readonly kind: 'refused' | 'stays';
  readonly problem: string;
}

/** Reads regular files only, because reading a pipe would never end. */
function textOf(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > maxBytes) throw new Error('it is no small regular file');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function socketNameIn(stdin: string): string {
  return basename(textAt(objectIn(stdin), 'ipam', 'socket') ?? defaultSocketName);
}
