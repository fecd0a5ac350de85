// The model of a cloud in a process of its own, and the endpoint beside it by which calls are counted and tokens taken.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RigChild } from '../../rig/child-process.ts';
import type { CloudAccess } from '../../rig/controller-process.ts';
import { callJson } from '../../rig/http.ts';
import type { CloudPlan, ModelServer, ServedModel } from '../clouds/bench-cloud.ts';
import { cloudOf } from '../clouds/clouds.ts';
import { ofAnotherMachine } from './another-machine.ts';

export interface CallCount {
  readonly calls: number;
  readonly refused: number;
  readonly throttled: number;
  readonly lost: number;
}

export type CallCounts = Readonly<Record<string, CallCount>>;

/** A call that succeeded. */
export interface AnsweredCall {
  readonly action: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** In ms since the epoch. */
  readonly at: number;
}

interface InstanceState {
  readonly id: string;
  readonly type: string;
}

interface InterfaceState {
  readonly id: string;
  readonly instanceId?: string;
  readonly deviceIndex?: number;
  readonly primaryAddress: string;
  readonly subnetId: string;
  readonly vpcId: string;
  readonly zone: string;
}

export interface CloudState {
  readonly instances: readonly InstanceState[];
  readonly interfaces: readonly InterfaceState[];
}

export class CloudProcess {
  readonly child: RigChild;
  readonly url: string;
  /** The environment of a user that may call it. */
  readonly credentials: ServedModel['variables'];
  readonly access: CloudAccess;
  readonly #ca: string | undefined;

  private constructor(child: RigChild, served: ServedModel, { access }: ModelServer, ca: string | undefined) {
    this.child = child;
    this.url = served.url;
    this.credentials = served.variables;
    this.access = access(served);
    this.#ca = ca;
  }

  /** `directory`: where its topology may be written. Resolves once it serves. */
  static start(plan: CloudPlan, directory: string): Promise<CloudProcess> {
    const { server, topology } = cloudOf(plan);
    return CloudProcess.serving(server, topology(plan), join(directory, 'topology.json'));
  }

  /** `path`: where the topology may be written, and other files beside it. Resolves once it serves. */
  static async serving(server: ModelServer, topology: string, path: string): Promise<CloudProcess> {
    await writeFile(path, topology);
    const { name, flags, lastVariable } = server;
    const args = ['simulate', `--topology=${path}`, ...flags(dirname(path))];
    const child = new RigChild({ name, args, env: ofAnotherMachine });
    const lines: string[] = [];
    await child.waitForLine(
      (line) => (lines.push(line) && line.startsWith(`export ${lastVariable}=`)) || undefined,
    );
    const served = servedModelIn(lines);
    const { NODE_EXTRA_CA_CERTS: authority } = served.variables;
    const ca = authority === undefined ? undefined : await readFile(authority, 'utf8');
    return new CloudProcess(child, served, server, ca);
  }

  /** Calls of each action since the start. */
  calls(signal: AbortSignal): Promise<CallCounts> {
    return this.#ask('GET', 'calls', undefined, signal);
  }

  /** When the latest calls were answered, oldest first. */
  async answers(signal: AbortSignal): Promise<readonly AnsweredCall[]> {
    const { answers } = await this.#ask<{ answers: readonly AnsweredCall[] }>(
      'GET',
      'answers',
      undefined,
      signal,
    );
    return answers;
  }

  state(signal: AbortSignal): Promise<CloudState> {
    return this.#ask('GET', 'state', undefined, signal);
  }

  /** Takes tokens as another client of the account would. */
  async drain(action: string, count: number, signal: AbortSignal): Promise<void> {
    await this.#ask('POST', 'tokens', { action, count }, signal);
  }

  /** Every listing of interfaces takes so much longer. */
  async slowListings(ms: number, signal: AbortSignal): Promise<void> {
    const fault = { action: 'DescribeNetworkInterfaces', fault: { kind: 'slow', ms } };
    await this.#ask('POST', 'faults', fault, signal);
  }

  #ask<T>(method: string, name: string, body: unknown, signal: AbortSignal): Promise<T> {
    const url = `${this.url}/_headwater/${name}`;
    return callJson(method, this.#ca === undefined ? url : { url, ca: this.#ca }, body, signal);
  }
}

/** What a model writes about itself when it serves. Throws if it does not say where. */
export function servedModelIn(lines: readonly string[]): ServedModel {
  const url = lines.flatMap((line) => /its faults: (\S+)\/_headwater\/$/.exec(line)?.[1] ?? [])[0];
  if (url === undefined) throw new Error(`the model does not say where it is:\n${lines.join('\n')}`);
  const exports = lines.flatMap((line) => {
    const [, name = '', value = ''] = /^export (\w+)=(.*)$/.exec(line) ?? [];
    return name === '' ? [] : [[name, value] as const];
  });
  const flags = lines.filter((line) => line.startsWith('# --')).flatMap((line) => line.slice(2).split(' '));
  return { url, variables: Object.fromEntries(exports), flags };
}
