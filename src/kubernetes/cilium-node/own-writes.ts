// Tracks this process's CiliumNode writes and their outcomes, to tell our own changes in a watch from another writer's.
// The test is exact because every write is bound to the state it was computed from. Among unanswered writes, only one
// bound to the last known state can explain a change.
import type { ReadOutcome, WriteOutcome, WriteTarget } from '../transport/write-outcome.ts';
import type { CiliumNodeWriter } from './cilium-node-writer.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';

/** A write without an answer, for now or forever. */
export interface OpenWrite {
  /** The resource version that it is bound to. */
  readonly base: string;
  readonly part: 'spec' | 'status';
  /** Merge patch of that part. */
  readonly patch: JsonObject;
}

interface Account {
  readonly uid: string;
  /** The resource version in the last answer. */
  answered: string | undefined;
  /** Whether each answer may still arrive. The outcome of a lost write stays unknown. */
  readonly open: Map<OpenWrite, 'inFlight' | 'lost'>;
}

type Writer = Pick<CiliumNodeWriter, 'patchSpec' | 'patchStatus' | 'get'>;

/** Retry delay of a refused write, in ms. */
const refusedFor = 30_000;

export class OwnWrites implements Writer {
  readonly #writer: Writer;
  readonly #refusal: () => string | undefined;
  readonly #onOutcome: (name: string, outcome: WriteOutcome) => void;
  readonly #accounts = new Map<string, Account>();

  /**
   * `refusal` says why writes are refused now; undefined permits them. It is called right before each write. `onOutcome`
   * receives the outcome of each write that was sent.
   */
  constructor(
    writer: Writer,
    refusal: () => string | undefined,
    onOutcome: (name: string, outcome: WriteOutcome) => void = () => undefined,
  ) {
    this.#writer = writer;
    this.#refusal = refusal;
    this.#onOutcome = onOutcome;
  }

  patchSpec(target: WriteTarget, spec: JsonObject, signal: AbortSignal): Promise<WriteOutcome> {
    const open = { base: target.resourceVersion, part: 'spec', patch: spec } as const;
    return this.#write(target, open, () => this.#writer.patchSpec(target, spec, signal));
  }

  patchStatus(target: WriteTarget, status: JsonObject, signal: AbortSignal): Promise<WriteOutcome> {
    const open = { base: target.resourceVersion, part: 'status', patch: status } as const;
    return this.#write(target, open, () => this.#writer.patchStatus(target, status, signal));
  }

  get(name: string, signal: AbortSignal): Promise<ReadOutcome> {
    return this.#writer.get(name, signal);
  }

  /** Whether this state of the object is the answer to our last write. */
  isAnswer({ name, uid, resourceVersion }: WriteTarget): boolean {
    const account = this.#accounts.get(name);
    return account?.uid === uid && account.answered === resourceVersion;
  }

  /** Writes that may have changed this state without an answer. */
  openOn({ name, uid, resourceVersion }: WriteTarget): readonly OpenWrite[] {
    const account = this.#accounts.get(name);
    if (account?.uid !== uid) return [];
    return [...account.open.keys()].filter(({ base }) => base === resourceVersion);
  }

  /** Records that this state is known. A lost write bound to another state can no longer take effect. */
  settle({ name, resourceVersion }: WriteTarget): void {
    const account = this.#accounts.get(name);
    if (account === undefined) return;
    if (account.answered !== resourceVersion) account.answered = undefined;
    for (const [write, state] of account.open)
      if (state === 'lost' && write.base !== resourceVersion) account.open.delete(write);
    if (account.open.size === 0 && account.answered === undefined) this.#accounts.delete(name);
  }

  forget(name: string): void {
    this.#accounts.delete(name);
  }

  async #write(
    { name, uid }: WriteTarget,
    open: OpenWrite,
    write: () => Promise<WriteOutcome>,
  ): Promise<WriteOutcome> {
    const why = this.#refusal();
    if (why !== undefined) {
      return { kind: 'unavailable', message: `not written: ${why}`, retryAfterMs: refusedFor };
    }
    const account = this.#accountOf(name, uid);
    account.open.set(open, 'inFlight');
    try {
      const outcome = await write();
      this.#onOutcome(name, outcome);
      if (outcome.kind !== 'unavailable') account.open.delete(open);
      if (outcome.kind === 'written') {
        account.answered = textAt(outcome.raw, 'metadata', 'resourceVersion');
      }
      return outcome;
    } finally {
      if (account.open.has(open)) account.open.set(open, 'lost');
    }
  }

  #accountOf(name: string, uid: string): Account {
    const known = this.#accounts.get(name);
    if (known?.uid === uid) return known;
    const account: Account = { uid, answered: undefined, open: new Map() };
    this.#accounts.set(name, account);
    return account;
  }
}
