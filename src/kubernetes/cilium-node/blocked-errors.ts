// Writes into a CiliumNode's own status why it is not served, where `kubectl describe` shows it. Changes
// nothing else in such an object. Each text is written once: if another writer removes it, it stays removed.
import { readIdentity } from '../object-identity.ts';
import type { CiliumNodeWriter } from './cilium-node-writer.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';
import { TaskGroup } from '../../runtime/task-group.ts';
import { randomWait, waitBeforeRetry } from '../../runtime/backoff.ts';
import type { ProcessPorts } from '../../runtime/process-ports.ts';
import { retry } from '../../runtime/retry.ts';

/** The known objects. */
interface KnownObjects {
  /** Applies the answer to a write. */
  observe(raw: JsonObject): void;
}

/** Where the status shows why a node is not served, or lacks something. */
export const operatorErrorPath = ['status', 'ipam', 'operator-status', 'error'];

const backoffPolicy = { base: 1000, cap: 30_000 };
/** Attempts to write one text if the object changes meanwhile. */
const maxTries = 5;

type Written = 'done' | 'conflict' | { readonly kind: 'unavailable'; readonly retryAfterMs?: number };

interface Said {
  readonly uid: string;
  readonly text: string;
}

export class BlockedErrors {
  readonly #ports: ProcessPorts;
  readonly #writer: Pick<CiliumNodeWriter, 'patchStatus' | 'get'>;
  readonly #known: KnownObjects;
  readonly #mayWrite: () => boolean;
  /** Pending texts by name. Written one at a time: any number of CiliumNodes may be wrong. */
  readonly #waiting = new Map<string, Said>();
  readonly #work: TaskGroup;

  /** `mayWrite`: whether CiliumNodes may be written now and their CRD has the field. Texts wait until then, and for `resume`. */
  constructor(
    ports: ProcessPorts,
    writer: Pick<CiliumNodeWriter, 'patchStatus' | 'get'>,
    known: KnownObjects,
    mayWrite: () => boolean,
  ) {
    this.#ports = ports;
    this.#writer = writer;
    this.#known = known;
    this.#mayWrite = mayWrite;
    this.#work = new TaskGroup(ports);
  }

  /** `text`: undefined if the node is served again; empty to clear what its status shows. */
  writeError({ name, uid }: { readonly name: string; readonly uid: string }, text: string | undefined): void {
    if (text === undefined) this.#waiting.delete(name);
    else this.#waiting.set(name, { uid, text });
    this.resume();
  }

  /** The CiliumNode is gone. */
  forget(name: string): void {
    this.#waiting.delete(name);
  }

  /** Writes what waits, if that is allowed by now. */
  resume(): void {
    if (this.#waiting.size > 0 && this.#work.isIdle) this.#work.beginTask(() => this.#run());
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#work.stop(deadline);
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#ports;
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [name, said] = next;
      const isStill = (): boolean => this.#waiting.get(name) === said;
      const attempt = async (tries: number): Promise<Written | 'forbidden'> => {
        if (tries > maxTries || !isStill()) return 'done';
        return this.#mayWrite() ? this.#write(name, said) : 'forbidden';
      };
      const end = await retry({ clock, signal: this.#work.closing }, attempt, (written, tries) => {
        if (written === 'done' || written === 'forbidden') return undefined;
        if (written === 'conflict') return 0;
        return waitBeforeRetry(randomWait(backoffPolicy, tries, random), written.retryAfterMs, random);
      });
      if (end === 'forbidden') return;
      if (isStill()) this.#waiting.delete(name);
    }
  }

  /** A failed write is worth another attempt. */
  async #write(name: string, said: Said): Promise<Written> {
    const [writer, known] = [this.#writer, this.#known];
    const { closing: signal } = this.#work;
    const live = await writer.get(name, signal);
    if (live.kind !== 'found') return live.kind === 'unavailable' ? live : 'done';
    // The answer to the write then differs from the known object by this write only.
    known.observe(live.raw);
    if (this.#waiting.get(name) !== said) return 'done';
    const target = readIdentity(live.raw);
    if (target.uid !== said.uid || errorIn(live.raw) === said.text) return 'done';
    const status = { ipam: { 'operator-status': { error: said.text === '' ? null : said.text } } };
    const outcome = await writer.patchStatus(target, status, signal);
    if (outcome.kind === 'written') known.observe(outcome.raw);
    if (outcome.kind === 'unavailable') return outcome;
    return outcome.kind === 'conflict' ? 'conflict' : 'done';
  }
}

function errorIn(raw: JsonObject): string {
  return textAt(raw, ...operatorErrorPath) ?? '';
}
