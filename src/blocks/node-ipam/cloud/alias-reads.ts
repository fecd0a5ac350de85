// Reads from a cloud the CIDRs that it routes to the instances of Nodes. While a Node is not served, its instance is read
// again, with growing pauses. Decides nothing.
import { Backoff } from '../../../runtime/backoff.ts';
import { TaskGroup } from '../../../runtime/task-group.ts';
import type { AllocatorPorts } from '../../allocation/block-allocator.ts';
import type { Holder } from '../../allocation/block-holders.ts';
import { type AliasNode, type AliasReading, type CloudAliases, missingProviderId } from './cloud-aliases.ts';

export interface AliasReadsDeps extends Pick<AllocatorPorts<Holder>, 'clock' | 'onBug' | 'random'> {
  readonly aliases: Pick<CloudAliases, 'aliasOf'>;
  /** Called soon after answers, once for all that come together. */
  readonly onAnswers: () => void;
}

/** What the cloud last answered about a Node. */
export interface LatestAlias {
  readonly reading: AliasReading;
  /** Reads in a row that did not lead to anything: whatever is being set up explains the first one. */
  readonly reads: number;
}

interface Entry {
  readonly node: AliasNode;
  readonly backoff: Backoff;
  latest: LatestAlias | undefined;
  cancel: () => void;
}

/** Between two reads of one Node, in ms. */
const retries = { base: 1000, cap: 30_000 };
/** How long answers are gathered, in ms. */
const gathering = 10;

export class AliasReads {
  readonly #deps: AliasReadsDeps;
  readonly #tasks: TaskGroup;
  /** By uid of the Node. */
  readonly #entries = new Map<string, Entry>();
  #isRunning = false;
  #isTelling = false;

  constructor(deps: AliasReadsDeps) {
    this.#deps = deps;
    this.#tasks = new TaskGroup(deps);
  }

  /** Starts to ask. Call it once. */
  beginAsking(): void {
    this.#isRunning = true;
    for (const [uid, entry] of this.#entries) this.#read(uid, entry);
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.#tasks.stop(deadline);
  }

  /** Asks about the Node until it is forgotten; at once if it is new or names another instance than before. */
  request(uid: string, { name, providerId }: AliasNode): void {
    const known = this.#entries.get(uid);
    if (known?.node.providerId === providerId) return;
    known?.cancel();
    const entry: Entry = {
      node: { name, providerId },
      backoff: new Backoff(retries, this.#deps),
      latest: undefined,
      cancel: () => undefined,
    };
    this.#entries.set(uid, entry);
    if (this.#isRunning) this.#read(uid, entry);
  }

  forget(uid: string): void {
    this.#entries.get(uid)?.cancel();
    this.#entries.delete(uid);
  }

  latest(uid: string): LatestAlias | undefined {
    return this.#entries.get(uid)?.latest;
  }

  #read(uid: string, entry: Entry): void {
    this.#tasks.beginTask(async () => {
      const reading = await this.#ask(entry.node);
      if (this.#entries.get(uid) !== entry) return;
      entry.latest = { reading, reads: (entry.latest?.reads ?? 0) + 1 };
      const asked = reading.kind === 'read' ? 0 : (reading.retryAfterMs ?? 0);
      entry.cancel = this.#tasks.later(Math.max(entry.backoff.fail(), asked), () => this.#read(uid, entry));
      this.#tell();
    });
  }

  async #ask(node: AliasNode): Promise<AliasReading> {
    if (node.providerId === '') return missingProviderId;
    return this.#deps.aliases.aliasOf(node, this.#tasks.deadline);
  }

  #tell(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.#tasks.later(gathering, () => {
      this.#isTelling = false;
      this.#deps.onAnswers();
    });
  }
}
