// Holds the current controller of the demonstration. An unexpected exit ends the demonstration.
import {
  type ControllerEnd,
  type ControllerOptions,
  ControllerProcess,
  endInWords,
} from './controller-process.ts';

export class ControllerHandle {
  readonly #options: ControllerOptions;
  readonly #dismissed = new Set<ControllerProcess>();
  #current: ControllerProcess;
  #ended: ControllerEnd | undefined;
  #onReplaced: ((pid: number | undefined) => void) | undefined;

  /** Starts the first controller. */
  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#current = this.#start();
  }

  /** How the controller ended unexpectedly; undefined while it runs. */
  get ended(): ControllerEnd | undefined {
    return this.#ended;
  }

  get pid(): number | undefined {
    return this.#current.pid;
  }

  /** Where it serves health, metrics and status, once it does. */
  get address(): string | undefined {
    return this.#current.address;
  }

  /** As typed in a shell; credentials come from the environment. */
  get command(): string {
    return ['bin/headwater', 'run', ...this.#options.flags].join(' ');
  }

  /** Kills the controller and starts another without any state of the first. */
  replace(): void {
    this.#dismissed.add(this.#current);
    this.#current.kill();
    this.#current = this.#start();
  }

  /** From now on a controller that SIGKILL ends is replaced; `report` receives the process ID of the new one. */
  replaceWhenKilled(report: (pid: number | undefined) => void): void {
    this.#onReplaced = report;
  }

  /** Stops the controller. Resolves to the reason of an unclean exit; undefined after a clean one. */
  async stop(): Promise<string | undefined> {
    this.#dismissed.add(this.#current);
    const end = await this.#current.stop();
    return end.code === 0 ? undefined : endInWords(end);
  }

  kill(): void {
    this.#dismissed.add(this.#current);
    this.#current.kill();
  }

  #start(): ControllerProcess {
    const { onLine, ...options } = this.#options;
    const started: ControllerProcess = new ControllerProcess({
      ...options,
      // Late output of a dead controller is no news.
      onLine: (line) => {
        if (!this.#dismissed.has(started)) onLine(line);
      },
    });
    void started.ended.then((end) => {
      if (this.#dismissed.has(started)) return;
      if (end.signal !== 'SIGKILL' || this.#onReplaced === undefined) {
        this.#ended = end;
        return;
      }
      this.#dismissed.add(started);
      this.#current = this.#start();
      this.#onReplaced(this.#current.pid);
    });
    return started;
  }
}
