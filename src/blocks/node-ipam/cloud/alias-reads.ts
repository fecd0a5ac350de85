// Reads from a cloud the CIDRs that it routes to the instances of Nodes. While a Node is not served, its instance is read
// again, with growing pauses. Decides nothing.
import { Backoff } from '../../../runtime/backoff.ts';
import type { ProcessPorts } from '../../../runtime/process-ports.ts';
import { type Result, WorkQueue } from '../../../runtime/work-queue.ts';
import { type AliasNode, type AliasReading, type CloudAliases, readAliases } from './cloud-aliases.ts';

/** The last answer of the cloud about a Node. */
export interface LatestAlias {
  readonly reading: AliasReading;
  /** Reads in a row that did not lead to anything: whatever is being set up explains the first one. */
  readonly reads: number;
}

interface Entry {
  readonly node: AliasNode;
  readonly backoff: Backoff;
  latest: LatestAlias | undefined;
}

/** Between two reads of one Node, in ms. */
const retries = { base: 1000, cap: 30_000 };
/** How long answers are gathered, in ms. */
const gathering = 10;

export class AliasReads {
  readonly #ports: ProcessPorts;
  readonly #aliases: Pick<CloudAliases, 'aliasOf'>;
  readonly #onAnswers: () => void;
  readonly #queue: WorkQueue<Entry>;
  /** By uid of the Node. */
  readonly #entries = new Map<string, Entry>();
  #isRunning = false;
  #isTelling = false;
  #cancelTelling: () => void = () => undefined;

  /** `onAnswers`: called soon after answers, once for all that come together. */
  constructor(ports: ProcessPorts, aliases: Pick<CloudAliases, 'aliasOf'>, onAnswers: () => void) {
    this.#ports = ports;
    this.#aliases = aliases;
    this.#onAnswers = onAnswers;
    this.#queue = new WorkQueue<Entry>({
      ...ports,
      workers: Infinity,
      mayStart: () => this.#isRunning,
      reconcile: (entry) => this.#read(entry),
      retryAfter: ({ backoff }) => backoff.fail(),
    });
  }

  /** Starts to ask. Call it once. */
  beginAsking(): void {
    this.#isRunning = true;
    this.#queue.serve();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#cancelTelling();
    await this.#queue.stop(deadline);
  }

  /** Asks about the Node until it is forgotten; at once if it is new or names another instance than before. */
  request(uid: string, { name, providerId }: AliasNode): void {
    if (this.#entries.get(uid)?.node.providerId === providerId) return;
    this.forget(uid);
    const entry = {
      node: { name, providerId },
      backoff: new Backoff(retries, this.#ports),
      latest: undefined,
    };
    this.#entries.set(uid, entry);
    this.#queue.add(entry);
  }

  forget(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry !== undefined) this.#queue.forget(entry);
    this.#entries.delete(uid);
  }

  latest(uid: string): LatestAlias | undefined {
    return this.#entries.get(uid)?.latest;
  }

  async #read(entry: Entry): Promise<Result> {
    const reading = await readAliases(this.#aliases, entry.node, this.#queue.deadline);
    entry.latest = { reading, reads: (entry.latest?.reads ?? 0) + 1 };
    this.#tell();
    const asked = reading.kind === 'read' ? 0 : (reading.retryAfterMs ?? 0);
    return { requeueAfter: Math.max(entry.backoff.fail(), asked) };
  }

  #tell(): void {
    if (this.#isTelling || this.#queue.isStopping) return;
    this.#isTelling = true;
    this.#cancelTelling = this.#ports.clock.schedule(gathering, () => {
      this.#isTelling = false;
      this.#onAnswers();
    });
  }
}
