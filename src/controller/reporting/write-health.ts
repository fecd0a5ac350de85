// Whether writes of what is served succeed. A leader that cannot write shows agents nothing, whatever it does in the cloud.
import type { Clock } from '../../runtime/clock.ts';

/** Only outcomes within this time count, in ms. */
const window = 60_000;

interface Failed {
  readonly name: string;
  readonly at: number;
  readonly message: string;
}

/** The outcome of a write, as writers report it. */
export type NotedOutcome =
  | { readonly kind: 'written' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'denied' | 'invalid' | 'unavailable'; readonly message: string };

export class WriteHealth {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #written: string;
  #lastSuccess: { readonly name: string; readonly at: number } | undefined;
  /** The last failures of two different nodes: failures of one node alone may be its own problem. */
  #failed: readonly Failed[] = [];

  /** `written`: the object, in singular. */
  constructor(clock: Pick<Clock, 'monotonic'>, written = 'CiliumNode') {
    this.#clock = clock;
    this.#written = written;
  }

  note(name: string, outcome: NotedOutcome): void {
    const at = this.#clock.monotonic();
    // A conflict, or a write to a deleted node, still reached the API server: neither is a failure.
    if (outcome.kind === 'written') this.#lastSuccess = { name, at };
    else if (outcome.kind !== 'conflict' && outcome.kind !== 'gone') {
      const others = this.#failed.filter((each) => each.name !== name).slice(-1);
      this.#failed = [...others, { name, at, message: outcome.message }];
    }
  }

  /** Undefined if a write succeeded in the last minute or none was attempted; otherwise the last error. */
  problem(): string | undefined {
    const since = this.#clock.monotonic() - window;
    if ((this.#lastSuccess?.at ?? -Infinity) > since) return undefined;
    const failed = this.#failed.filter(({ at }) => at > since);
    const last = failed.at(-1);
    if (last === undefined) return undefined;
    const isOnesOwn =
      failed.length === 1 && this.#lastSuccess !== undefined && this.#lastSuccess.name !== last.name;
    return isOnesOwn
      ? undefined
      : `no write of a ${this.#written} succeeded in the last minute: ${last.message}`;
  }
}
