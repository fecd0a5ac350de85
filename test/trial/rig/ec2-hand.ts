// An autoscaler that launches and terminates instances, with a view of the model.
import { EC2Client, RunInstancesCommand, TerminateInstancesCommand } from '@aws-sdk/client-ec2';
import type { CloudProcess } from '../../../bench/rig/cloud-process.ts';
import { callJson } from '../../../rig/http.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { machinesOf, type TrialState } from './trial-topology.ts';

export class Ec2Hand {
  readonly #cloud: CloudProcess;
  readonly #signal: AbortSignal;
  readonly #client: EC2Client;

  constructor(cloud: CloudProcess, region: string, signal: AbortSignal) {
    this.#cloud = cloud;
    this.#signal = signal;
    const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } =
      cloud.credentials;
    this.#client = new EC2Client({
      endpoint: cloud.url,
      region,
      credentials: { accessKeyId, secretAccessKey },
    });
  }

  state(): Promise<TrialState> {
    return callJson('GET', `${this.#cloud.url}/_headwater/state`, undefined, this.#signal);
  }

  /** Number of these actions since the start. */
  async calls(...actions: readonly string[]): Promise<number> {
    const counts = await this.#cloud.calls(this.#signal);
    return actions.reduce((sum, action) => sum + (counts[action]?.calls ?? 0), 0);
  }

  /** Launches instances without pod addresses in the subnet of that node. Resolves to their facts; names start with `prefix`. */
  async launch(count: number, beside: NodeFacts, prefix: string): Promise<readonly NodeFacts[]> {
    const { Instances = [] } = await this.#client.send(
      new RunInstancesCommand({
        ImageId: 'ami-0123456789abcdef0',
        InstanceType: 'm5.xlarge',
        MinCount: count,
        MaxCount: count,
        SubnetId: beside.subnetId,
        SecurityGroupIds: [(await this.state()).groups[0]?.id ?? ''],
      }),
    );
    const ids = new Set(Instances.map(({ InstanceId = '' }) => InstanceId));
    return machinesOf(await this.state(), prefix, ids);
  }

  async terminate(machines: readonly NodeFacts[]): Promise<void> {
    const InstanceIds = machines.map(({ instanceId }) => instanceId);
    await this.#client.send(new TerminateInstancesCommand({ InstanceIds }));
  }

  close(): void {
    this.#client.destroy();
  }
}
