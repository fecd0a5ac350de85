// Holds the current controller of the demonstration. An unexpected exit ends the demonstration.
import { type ControllerOptions, ControllerProcess, endInWords } from './controller-process.ts';

export class ControllerSeat {
  readonly #options: ControllerOptions;
  readonly #dismissed = new Set<ControllerProcess>();
  #holder: ControllerProcess;
  #ended: string | undefined;
  #onSuccession: ((pid: number | undefined) => void) | undefined;

  /** Starts the first controller. */
  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#holder = this.#start();
  }

  /** How the controller ended unexpectedly; undefined while it runs. */
  get ended(): string | undefined {
    return this.#ended;
  }

  get pid(): number | undefined {
    return this.#holder.pid;
  }

  /** Where it serves health, metrics and status, once it does. */
  get address(): string | undefined {
    return this.#holder.address;
  }

  /** As typed in a shell; credentials come from the environment. */
  get command(): string {
    return ['bin/headwater', 'run', ...this.#options.flags].join(' ');
  }

  /** Kills the controller and starts another without any state of the first. */
  replace(): void {
    this.#dismissed.add(this.#holder);
    this.#holder.kill();
    this.#holder = this.#start();
  }

  /** From now on a controller that SIGKILL ends is replaced; `tell` receives the process ID of the new one. */
  fillWhenKilled(tell: (pid: number | undefined) => void): void {
    this.#onSuccession = tell;
  }

  /** Stops the controller. Resolves to the reason of an unclean exit; undefined after a clean one. */
  async stop(): Promise<string | undefined> {
    this.#dismissed.add(this.#holder);
    const end = await this.#holder.stop();
    return end.code === 0 ? undefined : endInWords(end);
  }

  kill(): void {
    this.#dismissed.add(this.#holder);
    this.#holder.kill();
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
      if (end.signal !== 'SIGKILL' || this.#onSuccession === undefined) {
        this.#ended = endInWords(end);
        return;
      }
      this.#dismissed.add(started);
      this.#holder = this.#start();
      this.#onSuccession(this.#holder.pid);
    });
    return started;
  }
}
