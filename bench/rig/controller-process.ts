// The controller as it ships, in a process of its own, given nothing but flags and credentials.
import { type Clock, sleep } from '../../src/scheduling/clock.ts';
import type { ApiProcess } from './api-process.ts';
import { BenchChild } from './child-process.ts';
import type { CloudProcess } from './cloud-process.ts';
import { getText } from './http.ts';
import { metricIn } from './metric-text.ts';
import { region } from './topology.ts';

interface ControllerOptions {
  readonly cloud: CloudProcess;
  readonly api: ApiProcess;
  readonly flags: readonly string[];
  /** Where its CPU profile is left when it ends, if one is wanted. */
  readonly profiles: string | undefined;
}

export class ControllerProcess {
  readonly child: BenchChild;
  readonly #address: string;

  private constructor(child: BenchChild, address: string) {
    this.child = child;
    this.#address = address;
  }

  /** Resolves once it says that it is ready. */
  static async start(
    { cloud, api, flags, profiles }: ControllerOptions,
    clock: Clock,
    signal: AbortSignal,
  ): Promise<ControllerProcess> {
    const args = [
      'run',
      `--k8s-kubeconfig-path=${api.kubeconfig}`,
      `--ec2-api-endpoint=${cloud.url}`,
      `--aws-region=${region}`,
      '--cluster-name=bench',
      '--serve-addr=127.0.0.1:0',
      ...flags,
    ];
    const profiled = profiles === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` };
    const child = new BenchChild({
      name: 'the controller',
      args,
      env: { ...cloud.credentials, ...profiled },
    });
    const controller = new ControllerProcess(child, await child.said(addressIn));
    await Promise.race([controller.#ready(clock, signal), child.failure()]);
    return controller;
  }

  /** One metric without labels; undefined where it is not served. */
  async metric(name: string, signal: AbortSignal): Promise<number | undefined> {
    return metricIn(await this.scrape(signal), name);
  }

  scrape(signal: AbortSignal): Promise<string> {
    return getText(`http://${this.#address}/metrics`, signal);
  }

  async #ready(clock: Clock, signal: AbortSignal): Promise<void> {
    for (;;) {
      const ready = await getText(`http://${this.#address}/readyz`, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        return error;
      });
      if (typeof ready === 'string') return;
      await sleep(clock, 50, signal);
    }
  }
}

function addressIn(line: string): string | undefined {
  if (!line.includes('serving health, metrics and status')) return undefined;
  const { host, port } = JSON.parse(line) as { host: string; port: number };
  return `${host}:${port}`;
}
