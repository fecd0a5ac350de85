// The last look before blocks go that their CiliumNode no longer shows: at the pods of its node, again and again while they have
// addresses of them.
import type { PodReading, PodReads } from '../../kubernetes/watch/shown-pods.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { ProcessPorts } from '../../runtime/process-ports.ts';
import { type Result, WorkQueue } from '../../runtime/work-queue.ts';
import type { HolderName } from '../allocation/block-holders.ts';

/** Who holds blocks that wait for a look. */
export interface AwaitingBlocks {
  /** Whether blocks of the object wait for a look. */
  awaitLook(object: HolderName): boolean;
  /** A look at the pods of its node begins: it decides about the blocks that wait now. */
  beginLook?(object: HolderName): void;
  /** Takes in what the pods of its node show. */
  lookedAt(object: HolderName, reading: PodReading): void;
}

/** Between two looks at one node, in ms. */
const lookAgain = { base: 10_000, cap: 300_000 };

export class PodLooks {
  readonly #ports: ProcessPorts;
  readonly #pods: PodReads;
  readonly #blocks: AwaitingBlocks;
  /** Uids. An object that comes during a look asks for another look. */
  readonly #queue: WorkQueue<string>;
  /** By uid. */
  readonly #objects = new Map<string, { readonly object: HolderName; readonly pause: Backoff }>();

  /** `maxLooks`: at once. */
  constructor(ports: ProcessPorts, pods: PodReads, blocks: AwaitingBlocks, maxLooks = Infinity) {
    this.#ports = ports;
    this.#pods = pods;
    this.#blocks = blocks;
    this.#queue = new WorkQueue<string>({
      ...ports,
      workers: maxLooks,
      reconcile: (uid) => this.#look(uid),
      retryAfter: (uid) => this.#objects.get(uid)?.pause.fail() ?? lookAgain.cap,
    });
  }

  /** Blocks of the object wait for a look from now on. */
  begin({ name, uid }: HolderName): void {
    if (!this.#objects.has(uid))
      this.#objects.set(uid, { object: { name, uid }, pause: new Backoff(lookAgain, this.#ports) });
    this.#queue.add(uid);
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#queue.stop(deadline);
  }

  async #look(uid: string): Promise<Result> {
    const blocks = this.#blocks;
    const known = this.#objects.get(uid);
    if (known !== undefined && blocks.awaitLook(known.object)) {
      const { object, pause } = known;
      blocks.beginLook?.(object);
      blocks.lookedAt(object, await this.#pods.on(object.name, this.#queue.closing));
      if (blocks.awaitLook(object)) return { requeueAfter: pause.fail() };
    }
    this.#objects.delete(uid);
    return {};
  }
}
