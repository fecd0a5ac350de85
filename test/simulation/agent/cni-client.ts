// The plugin as a process of its own: it carries a call to the agent and its answer back, and leaves a DEL in a file where no
// agent answers. A fault kills it between any two steps.
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../../../src/runtime/clock.ts';
import type { Random } from '../../../src/runtime/random.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import type { ApiAnswer, ApiRequest } from '../../../src/agent/rest/api.ts';
import type { AgentMachine } from './agent-machine.ts';

export interface CniResult {
  readonly exit: number;
  readonly out: string;
}

const never = new AbortController().signal;

export interface CniClientOptions {
  readonly machine: AgentMachine;
  readonly clock: VirtualClock;
  readonly random: Random;
  /** How often a plugin is killed between two steps. */
  readonly risk: () => number;
}

export class CniClient {
  readonly #options: CniClientOptions;

  constructor(options: CniClientOptions) {
    this.#options = options;
  }

  /** What the runtime learns; undefined if the plugin was killed. */
  async run(env: Readonly<Record<string, string>>, conf: object): Promise<CniResult | undefined> {
    const body = JSON.stringify({ env: { CNI_PATH: '/opt/cni/bin', ...env }, stdin: JSON.stringify(conf) });
    if (await this.#isKilled()) return undefined;
    const gone = new AbortController();
    const asked = this.#send(body, gone.signal);
    if (this.#options.random.chance(this.#options.risk())) {
      await this.#pause();
      gone.abort();
      return undefined;
    }
    const answer = await asked;
    if (await this.#isKilled()) return undefined;
    if (answer !== undefined)
      return { exit: Number(answer.headers?.['x-cni-exit'] ?? 1), out: answer.body ?? '' };
    return env['CNI_COMMAND'] === 'DEL' ? this.#queue(body) : { exit: 1, out: '{"code":11}' };
  }

  /** A REST call of another client. */
  ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiAnswer | undefined> {
    const [place = '', query = ''] = path.split('?', 2);
    const request: ApiRequest = { method, path: place, query: new URLSearchParams(query), headers, body: '' };
    return this.#options.machine.call(request, never);
  }

  async #send(body: string, signal: AbortSignal): Promise<ApiAnswer | undefined> {
    await this.#pause();
    if (signal.aborted) return undefined;
    const request = { method: 'POST', path: '/v1/cni', query: new URLSearchParams(), headers: {}, body };
    return this.#options.machine.call(request, signal);
  }

  async #queue(body: string): Promise<CniResult | undefined> {
    const { machine } = this.#options;
    mkdirSync(machine.queue, { recursive: true });
    const path = join(machine.queue, `${createHash('sha256').update(body).digest('hex')}.delete`);
    writeFileSync(path, body);
    if (await this.#isKilled()) return undefined;
    if (!machine.isListening) return { exit: 0, out: '' };
    rmSync(path, { force: true });
    const answer = await this.#send(body, never);
    return { exit: answer?.headers?.['x-cni-exit'] === '0' ? 0 : 1, out: answer?.body ?? '' };
  }

  async #isKilled(): Promise<boolean> {
    await this.#pause();
    return this.#options.random.chance(this.#options.risk());
  }

  #pause(): Promise<void> {
    return sleep(this.#options.clock, this.#options.random.integer(15), never);
  }
}
