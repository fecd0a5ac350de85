// The writes of CiliumNodes that this process makes, and what became of them: so that what a watch brings can be told to
// be ours or somebody else's. Every write is bound to the state it was computed from, which makes that exact: of what
// was sent and not answered, only a write bound to the last known state can be what changed it.
import type { CiliumNodeWriter, ReadOutcome, WriteOutcome, WriteTarget } from './cilium-node-writer.ts';
import { type JsonObject, textAt } from './json.ts';

/** A write whose answer has not come, or never will. */
export interface OpenWrite {
  /** Resource version that it is bound to. */
  readonly base: string;
  readonly part: 'spec' | 'status';
  /** Merge patch of that part. */
  readonly patch: JsonObject;
}

interface Account {
  readonly uid: string;
  /** Resource version that the last answer brought. */
  answered: string | undefined;
  /** Each with whether its answer may still come; of the others nobody will say whether they happened. */
  readonly open: Map<OpenWrite, 'inFlight' | 'lost'>;
}

type Writer = Pick<CiliumNodeWriter, 'patchSpec' | 'patchStatus' | 'get'>;

/** How long to leave it at that when a write may not be made, in ms. */
const refusedFor = 30_000;

export class OwnWrites implements Writer {
  readonly #writer: Writer;
  readonly #refusal: () => string | undefined;
  readonly #accounts = new Map<string, Account>();

  /** `refusal`: why nothing may be written now, asked right before each write; undefined when it may. */
  constructor(writer: Writer, refusal: () => string | undefined) {
    this.#writer = writer;
    this.#refusal = refusal;
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

  /** Whether that state of the object is the answer to our last write. */
  isAnswer({ name, uid, resourceVersion }: WriteTarget): boolean {
    const account = this.#accounts.get(name);
    return account?.uid === uid && account.answered === resourceVersion;
  }

  /** Writes that may have changed this state of the object unseen. */
  openOn({ name, uid, resourceVersion }: WriteTarget): readonly OpenWrite[] {
    const account = this.#accounts.get(name);
    if (account?.uid !== uid) return [];
    return [...account.open.keys()].filter(({ base }) => base === resourceVersion);
  }

  /** This state of the object is known now: a lost write that is bound to another can't happen any more. */
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
