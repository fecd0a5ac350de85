// The EC2 model in a process of its own, and the endpoint beside it by which calls are counted and tokens taken.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RigChild } from '../../rig/child-process.ts';
import { callJson } from '../../rig/http.ts';
import { ofAnotherMachine } from './another-machine.ts';
import { type CloudPlan, topologyOf } from './topology.ts';

export interface CallCount {
  readonly calls: number;
  readonly refused: number;
  readonly throttled: number;
  readonly lost: number;
}

export type CallCounts = Readonly<Record<string, CallCount>>;

interface InstanceState {
  readonly id: string;
  readonly type: string;
}

interface InterfaceState {
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
  /** The credentials of a user that may call it. */
  readonly credentials: Readonly<Record<string, string>>;

  private constructor(child: RigChild, url: string, credentials: Readonly<Record<string, string>>) {
    this.child = child;
    this.url = url;
    this.credentials = credentials;
  }

  /** `directory`: where its topology may be written. Resolves once it serves. */
  static start(plan: CloudPlan, directory: string): Promise<CloudProcess> {
    return CloudProcess.serving(topologyOf(plan), join(directory, 'topology.json'));
  }

  /** `path`: where the topology may be written. Resolves once it serves. */
  static async serving(topology: string, path: string): Promise<CloudProcess> {
    await writeFile(path, topology);
    const args = ['simulate', `--topology=${path}`, '--ec2-port=0'];
    const child = new RigChild({ name: 'the EC2 model', args, env: ofAnotherMachine });
    const exported = (name: string): Promise<string> =>
      child.waitForLine((line) =>
        line.startsWith(`export ${name}=`) ? line.slice(line.indexOf('=') + 1) : undefined,
      );
    const url = await exported('AWS_ENDPOINT_URL_EC2');
    const credentials = {
      AWS_ACCESS_KEY_ID: await exported('AWS_ACCESS_KEY_ID'),
      AWS_SECRET_ACCESS_KEY: await exported('AWS_SECRET_ACCESS_KEY'),
    };
    return new CloudProcess(child, url, credentials);
  }

  /** Calls of each action since the start. */
  calls(signal: AbortSignal): Promise<CallCounts> {
    return callJson('GET', `${this.url}/_headwater/calls`, undefined, signal);
  }

  state(signal: AbortSignal): Promise<CloudState> {
    return callJson('GET', `${this.url}/_headwater/state`, undefined, signal);
  }

  /** Takes tokens as another client of the account would. */
  async drain(action: string, count: number, signal: AbortSignal): Promise<void> {
    await callJson('POST', `${this.url}/_headwater/tokens`, { action, count }, signal);
  }

  /** Every listing of interfaces takes so much longer. */
  async slowListings(ms: number, signal: AbortSignal): Promise<void> {
    const fault = { action: 'DescribeNetworkInterfaces', fault: { kind: 'slow', ms } };
    await callJson('POST', `${this.url}/_headwater/faults`, fault, signal);
  }
}
