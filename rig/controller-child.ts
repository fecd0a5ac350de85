// A controller as a process that needs no cloud: what it is called with, what it writes, and where it serves.
import { RigChild } from './child-process.ts';
import { getText } from './http.ts';
import { addressIn } from './controller-process.ts';

export interface ControllerChildOptions {
  readonly args: readonly string[];
  /** Variables besides PATH. */
  readonly environment?: Readonly<Record<string, string>>;
}

export class ControllerChild {
  readonly child: RigChild;
  readonly lines: readonly string[];
  readonly #address: string;

  private constructor(child: RigChild, lines: readonly string[], address: string) {
    this.child = child;
    this.lines = lines;
    this.#address = address;
  }

  /** Resolves once it logs the address where it serves health, metrics and status. */
  static async start({ args, environment = {} }: ControllerChildOptions): Promise<ControllerChild> {
    const lines: string[] = [];
    const child = new RigChild({ name: 'the controller', args, bound: true, env: environment });
    child.onEachLine((line) => lines.push(line));
    return new ControllerChild(child, lines, await child.waitForLine(addressIn));
  }

  get(path: string, signal = new AbortController().signal): Promise<string> {
    return getText(`http://${this.#address}${path}`, signal);
  }

  /** As a machine that loses power would. */
  kill(): Promise<unknown> {
    return Promise.resolve(this.child.kill());
  }
}
