// A process that a fault can kill and freeze, with its own clocks. Its pending work is dropped once it is dead, and
// waits while it is frozen.
import type { Clock } from '../../src/runtime/clock.ts';
import type { CallPhase, PortCall } from './scenario.ts';

/** One call of a process, as phase listeners receive it. */
export interface CallInProgress {
  readonly process: SimulatedProcess;
  readonly call: PortCall;
  /** The input of a cloud call; path and body of a Kubernetes request. */
  readonly input: Readonly<Record<string, unknown>>;
}

export type PhaseListener = (phase: CallPhase, progress: CallInProgress) => void;

export class SimulatedProcess implements Clock {
  readonly identity: string;
  readonly #clock: Clock;
  readonly #onEnd: (() => void)[] = [];
  #isDead = false;
  /** What happened while frozen, in order; undefined unless frozen. */
  #held: (() => void)[] | undefined;
  #wallShift = 0;

  constructor(identity: string, clock: Clock) {
    this.identity = identity;
    this.#clock = clock;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isFrozen(): boolean {
    return this.#held !== undefined;
  }

  wall(): number {
    return this.#clock.wall() + this.#wallShift;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  schedule(ms: number, action: () => void): () => void {
    let isCancelled = false;
    const cancel = this.#clock.schedule(ms, () => {
      if (this.#isDead) return;
      if (this.#held === undefined) action();
      else
        this.#held.push(() => {
          if (!isCancelled) action();
        });
    });
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Shifts the wall clock of this machine. */
  shiftWall(ms: number): void {
    this.#wallShift += ms;
  }

  /** Passes a value from outside: now, after the thaw, or never. */
  async pass<T>(value: T): Promise<T> {
    if (this.#isDead) return new Promise(() => undefined);
    if (this.#held === undefined) return value;
    await new Promise<void>((resolve) => this.#held?.push(resolve));
    return this.pass(value);
  }

  kill(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    for (const end of this.#onEnd.splice(0)) end();
  }

  /** Registers a callback for the kill. */
  onKill(action: () => void): void {
    this.#onEnd.push(action);
  }

  freeze(): void {
    this.#held ??= [];
  }

  thaw(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const action of held) this.#clock.schedule(0, () => (this.#isDead ? undefined : action()));
  }
}
