// The shipped controller in a process of its own, with nothing but flags and credentials.
import { type Clock, sleep } from '../src/runtime/clock.ts';
import { RigChild } from './child-process.ts';
import { getText } from './http.ts';
import { metricIn } from './metric-text.ts';

/** How a controller finds its cloud, and as whom. */
export interface CloudAccess {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Ec2Access {
  readonly url: string;
  /** As environment variables. */
  readonly credentials: Readonly<Record<string, string>>;
}

export function accessToEc2({ url, credentials }: Ec2Access, region: string): CloudAccess {
  return { flags: [`--ec2-api-endpoint=${url}`, `--aws-region=${region}`], env: credentials };
}

export interface ControllerOptions {
  /** Its name in error messages. Default: the controller. */
  readonly name?: string;
  readonly kubeconfig: string;
  readonly cloud: CloudAccess;
  readonly flags: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** As in `ChildOptions`. */
  readonly bound?: boolean;
  /** Gets every line that it writes. */
  readonly onLine?: (line: string) => void;
}

export class ControllerProcess {
  readonly child: RigChild;
  readonly #address: string;

  private constructor(child: RigChild, address: string) {
    this.child = child;
    this.#address = address;
  }

  /** Resolves once it logs the address where it serves health, metrics and status. */
  static async start(options: ControllerOptions): Promise<ControllerProcess> {
    const { name = 'the controller', kubeconfig, cloud, flags, env = {}, bound, onLine } = options;
    const args = [
      'run',
      `--k8s-kubeconfig-path=${kubeconfig}`,
      ...cloud.flags,
      '--serve-addr=127.0.0.1:0',
      ...flags,
    ];
    const child = new RigChild({
      name,
      args,
      env: { ...cloud.env, ...env },
      ...(bound !== undefined && { bound }),
    });
    if (onLine !== undefined) child.onEachLine(onLine);
    return new ControllerProcess(child, await child.waitForLine(addressIn));
  }

  /** One metric without labels; undefined if it is not served. */
  async metric(name: string, signal: AbortSignal): Promise<number | undefined> {
    return metricIn(await this.scrape(signal), name);
  }

  scrape(signal: AbortSignal): Promise<string> {
    return getText(this.urlOf('/metrics'), signal);
  }

  /** The URL of a path that it serves. */
  urlOf(path: string): string {
    return `http://${this.#address}${path}`;
  }

  /** Resolves once it reports ready; rejects if it ends before. */
  async ready(clock: Clock, signal: AbortSignal): Promise<void> {
    await Promise.race([this.#untilReady(clock, signal), this.child.failure()]);
  }

  async #untilReady(clock: Clock, signal: AbortSignal): Promise<void> {
    for (;;) {
      const ready = await getText(this.urlOf('/readyz'), signal).catch((error: unknown) => {
        signal.throwIfAborted();
        return error;
      });
      if (typeof ready === 'string') return;
      await sleep(clock, 50, signal);
    }
  }
}

export function addressIn(line: string): string | undefined {
  if (!line.includes('serving health, metrics and status')) return undefined;
  const { host, port } = JSON.parse(line) as { host: string; port: number };
  return `${host}:${port}`;
}
