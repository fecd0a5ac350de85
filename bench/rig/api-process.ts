// The embedded Kubernetes API in a process of its own.
import { join } from 'node:path';
import { RigChild } from '../../rig/child-process.ts';
import { callJson } from '../../rig/http.ts';
import { ofAnotherMachine } from './another-machine.ts';

interface RequestCount {
  readonly userAgent: string;
  readonly method: string;
  readonly resource: string;
  readonly count: number;
}

export class ApiProcess {
  readonly child: RigChild;
  readonly url: string;
  readonly kubeconfig: string;

  private constructor(child: RigChild, url: string, kubeconfig: string) {
    this.child = child;
    this.url = url;
    this.kubeconfig = kubeconfig;
  }

  static async start(directory: string): Promise<ApiProcess> {
    const kubeconfig = join(directory, 'kubeconfig');
    const args = ['simulate', '--kubernetes', '--kubernetes-port=0', `--kubeconfig=${kubeconfig}`];
    const child = new RigChild({ name: 'the embedded Kubernetes API', args, env: ofAnotherMachine });
    const url = await child.waitForLine((line) => /^# the Kubernetes API on (\S+)$/.exec(line)?.[1]);
    return new ApiProcess(child, url, kubeconfig);
  }

  /** When each of the latest resource versions was written, in ms of the API's own monotonic clock. */
  async writtenAt(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const { versions } = await callJson<{
      versions: readonly { readonly resourceVersion: string; readonly at: number }[];
    }>('GET', `${this.url}/_headwater/versions`, undefined, signal);
    return new Map(versions.map(({ resourceVersion, at }) => [resourceVersion, at]));
  }

  /** Writes of the controller since the start, by resource; renewals of its Lease apart. */
  async writes(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const { requests } = await callJson<{ requests: readonly RequestCount[] }>(
      'GET',
      `${this.url}/_headwater/requests`,
      undefined,
      signal,
    );
    const counted = new Map<string, number>();
    for (const { userAgent, method, resource, count } of requests) {
      if (userAgent !== 'headwater' || method === 'GET' || resource === 'leases') continue;
      counted.set(resource, (counted.get(resource) ?? 0) + count);
    }
    return counted;
  }
}
