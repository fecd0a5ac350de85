// The loop of one Node: it looks when asked, and again when its time is over. Requests during a look count as one, which
// follows it.
import { Timeout, type TimeoutSettings } from './timeout.ts';

/** How a look ended. */
export interface SyncOutcome {
  readonly isFine: boolean;
  /** How long the other side asks to be left alone, in ms. */
  readonly retryAfterMs?: number;
}

export interface NodeSyncDeps {
  readonly settings: TimeoutSettings;
  /** Calls `action` once after so many ms; the returned function cancels it. */
  readonly later: (ms: number, action: () => void) => () => void;
  /** Called when a look is due. Answer with `look`. */
  readonly onDue: () => void;
}

export class NodeSync {
  readonly #deps: NodeSyncDeps;
  readonly #timeout: Timeout;
  #state: 'waiting' | 'due' | 'looking' | 'ended' = 'waiting';
  #isAskedAgain = false;
  #cancel: () => void = () => undefined;

  constructor(deps: NodeSyncDeps) {
    this.#deps = deps;
    this.#timeout = new Timeout(deps.settings);
  }

  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  /** Asks for a look, soon. */
  request(): void {
    if (this.#state === 'looking') this.#isAskedAgain = true;
    if (this.#state !== 'waiting') return;
    this.#cancel();
    this.#state = 'due';
    this.#deps.onDue();
  }

  /** Looks once, if a look is due. Rejects with what `sync` rejects with. */
  async look(sync: () => Promise<SyncOutcome>): Promise<void> {
    if (this.#state !== 'due') return;
    this.#state = 'looking';
    let outcome: SyncOutcome = { isFine: false };
    try {
      outcome = await sync();
    } finally {
      this.#rest(outcome);
    }
  }

  /** No look follows. */
  end(): void {
    this.#state = 'ended';
    this.#cancel();
  }

  #rest({ isFine, retryAfterMs = 0 }: SyncOutcome): void {
    if (this.#state !== 'looking') return;
    this.#timeout.update(isFine);
    this.#state = 'waiting';
    const isAskedAgain = this.#isAskedAgain && isFine;
    this.#isAskedAgain = false;
    const wait = isAskedAgain ? 0 : retryAfterMs > 0 ? retryAfterMs : this.#timeout.next();
    this.#cancel = this.#deps.later(wait, () => this.request());
  }
}
