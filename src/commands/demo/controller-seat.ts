// Who is the controller of the demonstration now. One that ends without being told to ends the demonstration.
import { ControllerProcess, endInWords, type LogLine } from './controller-process.ts';

export interface SeatOptions {
  readonly flags: readonly string[];
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly onLine: (line: LogLine) => void;
}

export class ControllerSeat {
  readonly #options: SeatOptions;
  readonly #dismissed = new Set<ControllerProcess>();
  #holder: ControllerProcess;
  #ended: string | undefined;

  /** Starts the first one. */
  constructor(options: SeatOptions) {
    this.#options = options;
    this.#holder = this.#start();
  }

  /** How the controller ended that was not to end; undefined as long as all is well. */
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

  /** As somebody would type it; credentials come by the environment. */
  get command(): string {
    return ['bin/headwater', 'run', ...this.#options.flags].join(' ');
  }

  /** Ends the controller without a word and starts another, which knows nothing of the one before. */
  replace(): void {
    this.#dismissed.add(this.#holder);
    this.#holder.kill();
    this.#holder = this.#start();
  }

  /** Tells the controller to end. Resolves to why that was no good end; undefined when it was one. */
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
      // What a dead one had still to say is no news.
      onLine: (line) => {
        if (!this.#dismissed.has(started)) onLine(line);
      },
    });
    void started.ended.then((end) => {
      if (!this.#dismissed.has(started)) this.#ended = endInWords(end);
    });
    return started;
  }
}
