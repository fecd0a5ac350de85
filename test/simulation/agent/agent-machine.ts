// A node in virtual time: the product agent as a process that faults kill between any two steps, its files, and a machine that
// reboots. The judge is elsewhere: here is only what really happens to processes and files.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentEnd, serve } from '../../../src/agent/agent.ts';
import type { AddressRecord } from '../../../src/agent/record/address-record.ts';
import { openState } from '../../../src/agent/record/state-directory.ts';
import type { Api, ApiAnswer, ApiRequest } from '../../../src/agent/rest/api.ts';
import { agentChecks, agentSettings } from '../../../src/agent/agent-settings.ts';
import { loadOptions } from '../../../src/config/load-options.ts';
import { createAgentMetricRegistry } from '../../../src/observability/metrics.ts';
import type { KubernetesTransport } from '../../../src/kubernetes/transport/transport.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import type { Random } from '../../../src/runtime/random.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import { emptyEnvironment, rawFlags } from '../../support/given-options.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { SimulatedProcess } from '../process.ts';

/** A fault of the next write of the record. */
export type WriteFault =
  /** The process ends during the write: none, a part, or all of the line is in the file, and no answer leaves. */
  'killed before' | 'killed within' | 'killed after' | 'disk full';

/** Unwinds a process that was killed in the middle of a step. */
export class Killed extends Error {}

interface RunningAgent {
  readonly process: SimulatedProcess;
  readonly record: AddressRecord;
  /** Once it listens. */
  api: Api | undefined;
  /** Ends each call in flight. */
  readonly calls: Set<() => void>;
}

export interface AgentMachineOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** Options of the agent. */
  readonly flags: Readonly<Record<string, string>>;
  /** Undefined with host-scope. */
  readonly connect: ((process: SimulatedProcess) => KubernetesTransport) | undefined;
  /** The file that `cilium-node-spec` names. */
  readonly nodeSpec?: string;
}

export class AgentMachine {
  readonly bugs: string[] = [];
  /** Warnings that the agents logged. */
  readonly warnings: string[] = [];
  /** Starts of the agent that failed. */
  readonly failedStarts: string[] = [];
  /** Decides the next writes of the record, the first one first. */
  readonly writeFaults: WriteFault[] = [];
  readonly queue: string;
  readonly #options: AgentMachineOptions;
  readonly #directory: string;
  #agent: RunningAgent | undefined;
  #started = 0;
  #wallShift = 0;

  constructor(options: AgentMachineOptions) {
    this.#options = options;
    this.#directory = mkdtempSync(join(tmpdir(), 'headwater-agent-simulation-'));
    this.queue = join(this.#directory, 'run', 'deleteQueue');
    this.#boot();
  }

  /** Whether something listens on the socket. */
  get isListening(): boolean {
    return this.#agent?.api !== undefined;
  }

  get isRunning(): boolean {
    return this.#agent !== undefined;
  }

  /** Starts the agent if none runs. */
  start(): void {
    if (this.#agent !== undefined) return;
    const { clock, random, connect, nodeSpec = '' } = this.#options;
    const name = `agent-${this.#started++}`;
    const process = new SimulatedProcess(name, clock);
    process.shiftWall(this.#wallShift);
    const settings = this.#settings();
    const { stateDir: path, bootIdFile, nodeName: node } = settings;
    const state = openState({ path, bootIdFile, node, canRebuild: connect !== undefined });
    if (state.kind !== 'open') {
      this.failedStarts.push(state.problem);
      return;
    }
    const agent: RunningAgent = { process, record: state.record, api: undefined, calls: new Set() };
    this.#agent = agent;
    this.#withFaults(agent);
    const log = recordingLogger();
    const end = serve(
      {
        settings,
        clock: mortal(process),
        random: random.fork(name),
        log: {
          ...log,
          warn: (message, details) => this.warnings.push(`${message} ${JSON.stringify(details)}`),
          error: (message, details) => this.#noteBug(process, message, details),
        },
        registry: createAgentMetricRegistry({ measureProcess: false }),
        kubernetes: connect?.(process),
        machine: {
          readFile: () => nodeSpec,
          sandboxes: () => [],
          readDnsFile: () => Promise.reject(new Error('there is no file')),
        },
      },
      state,
      (api) => ({
        listen: () => {
          if (!process.isDead) agent.api = api;
          return Promise.resolve(undefined);
        },
        lost: () => undefined,
        close: () => Promise.resolve(),
      }),
      new AbortController().signal,
    );
    end.then(
      (ended: AgentEnd) => this.bugs.push(`the agent ended: ${JSON.stringify(ended)}`),
      (error: unknown) => this.#noteBug(process, String(error), {}),
    );
  }

  kill(): void {
    const agent = this.#agent;
    if (agent === undefined) return;
    this.#agent = undefined;
    agent.api = undefined;
    agent.process.kill();
    // Tasks of the killed agent that still run write nothing.
    agent.record.write = () => {
      throw new Killed();
    };
    agent.record.close();
    for (const end of agent.calls) end();
  }

  /** Kills the agent; its containers and everything below /run end with the machine. */
  reboot(): void {
    this.kill();
    this.writeFaults.length = 0;
    rmSync(join(this.#directory, 'run'), { recursive: true });
    this.#boot();
  }

  /** Kills the agent and leaves a journal that it cannot have written; false if there is none yet. */
  damage(): boolean {
    this.kill();
    const [boot] = this.#boots;
    const journal = boot === undefined ? '' : readFileSync(this.#journal, 'utf8');
    if (journal === '') return false;
    writeFileSync(this.#journal, journal.replace('{', 'x'));
    return true;
  }

  /** Moves the wall clock of the machine. */
  shiftWall(ms: number): void {
    this.#wallShift += ms;
    this.#agent?.process.shiftWall(ms);
  }

  /** Has the agent make a snapshot; with `isKilled`, it ends when the snapshot has its name and the journal is still whole. */
  snapshot(isKilled: boolean): void {
    const agent = this.#agent;
    if (agent === undefined) return;
    const before = readFileSync(this.#journal);
    agent.record.snapshot();
    if (!isKilled) return;
    this.kill();
    writeFileSync(this.#journal, before);
  }

  /** Undefined if nobody listens, or the connection breaks. `signal`: the client is gone. */
  call(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer | undefined> {
    const agent = this.#agent;
    const api = agent?.api;
    if (agent === undefined || api === undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const end = (answer: ApiAnswer | undefined): void => {
        agent.calls.delete(broken);
        resolve(agent.process.isDead ? undefined : answer);
      };
      const broken = (): void => end(undefined);
      agent.calls.add(broken);
      const answering = (async () => api.handle(request, signal))();
      answering.then(end, (error: unknown) => {
        this.#noteBug(agent.process, String(error), {});
        end(undefined);
      });
    });
  }

  remove(): void {
    this.kill();
    rmSync(this.#directory, { recursive: true });
  }

  get #bootIdFile(): string {
    return join(this.#directory, 'boot_id');
  }

  /** Once a record is open, those of earlier boots are gone. */
  get #boots(): readonly string[] {
    const state = join(this.#directory, 'state');
    return existsSync(state) ? readdirSync(state).filter((name) => !name.endsWith('.damaged')) : [];
  }

  get #journal(): string {
    const [boot = ''] = this.#boots;
    return join(this.#directory, 'state', boot, 'journal');
  }

  #boot(): void {
    mkdirSync(join(this.#directory, 'run'));
    writeFileSync(this.#bootIdFile, `${this.#options.random.uuid()}\n`);
  }

  #settings(): ReturnType<typeof agentSettings> {
    const flags = {
      'node-name': 'one',
      'socket-path': join(this.#directory, 'run', 'agent.sock'),
      'state-dir': join(this.#directory, 'state'),
      'boot-id-file': this.#bootIdFile,
      ...this.#options.flags,
    };
    const loaded = loadOptions(rawFlags(flags), emptyEnvironment, { command: 'agent', checks: agentChecks });
    if (loaded.kind === 'refused') throw new Error(loaded.problems.join('\n'));
    return agentSettings(loaded.options);
  }

  #withFaults({ record }: RunningAgent): void {
    const write = record.write.bind(record);
    record.write = (change) => {
      // Pools are recorded only for a restart without an API server. No answer depends on that write.
      if (change.pools !== undefined && change.leaving === undefined) return write(change);
      const fault = this.writeFaults.shift();
      if (fault === undefined) return write(change);
      // A block that is not remembered costs a restart without an API server: that is no fault of the agent.
      if (fault === 'disk full') return change.blocks === undefined ? 'the disk is full' : write(change);
      const journal = this.#journal;
      const { length } = readFileSync(journal);
      if (fault !== 'killed before') write(change);
      const whole = readFileSync(journal);
      this.kill();
      // A snapshot may have been made first: then the line is all of the journal.
      if (fault === 'killed within') tear(journal, whole, whole.length > length ? length : 0);
      throw new Killed();
    };
  }

  #noteBug(process: SimulatedProcess, message: string, details: unknown): void {
    if (!process.isDead) this.bugs.push(`${message} ${JSON.stringify(details)}`);
  }
}

/** Leaves half of what follows `kept` bytes. */
function tear(path: string, whole: Buffer, kept: number): void {
  writeFileSync(path, whole.subarray(0, kept));
  appendFileSync(path, whole.subarray(kept, kept + Math.ceil((whole.length - kept) / 2)));
}

/** Timers of a process that may be killed in the middle of them. */
function mortal(process: SimulatedProcess): Clock {
  return {
    wall: () => process.wall(),
    monotonic: () => process.monotonic(),
    schedule: (ms, action) =>
      process.schedule(ms, () => {
        try {
          action();
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
        }
      }),
  };
}
