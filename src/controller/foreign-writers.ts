// Keeps watch for a second writer of what only Headwater writes in CiliumNodes, most likely a cilium-operator that still
// runs: two that both serve a node undo each other's work, in Kubernetes and in the cloud.
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import type { OwnWrites } from '../kubernetes/own-writes.ts';
import { ageOf } from '../kubernetes/resource-version.ts';
import type { NodeReference } from '../manager/fleet.ts';
import { type Diagnosis, foreignWriter } from '../node/diagnosis.ts';
import { foreignParts, type WrittenPart } from '../node/foreign-write.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import { type Clock, sleep } from '../scheduling/clock.ts';

export interface ForeignWritersDeps {
  readonly clock: Clock;
  readonly permission: Pick<MutationPermission, 'stops' | 'change'>;
  readonly ownWrites: Pick<OwnWrites, 'isAnswer' | 'openOn' | 'settle'>;
  /** Whether this process leads at this very moment: when it was frozen for longer than its lease, others write. */
  readonly leads: () => boolean;
  /** Whatever was written until this resource version is known; undefined while that cannot be said. */
  readonly knownVersion: () => string | undefined;
  /** The resource version that CiliumNodes have now; undefined when that cannot be had. */
  readonly collectionVersion: (signal: AbortSignal) => Promise<string | undefined>;
  /** The cloud's key in the status. */
  readonly statusKey: string;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'headwater_foreign_writes_total'>;
  readonly tell: (node: NodeReference, diagnosis: Diagnosis) => void;
}

/** The last write of somebody else. */
export interface ForeignWrite {
  readonly node: string;
  readonly parts: readonly WrittenPart[];
  /** Field manager, where the API server says. */
  readonly manager: string | undefined;
}

/** Without a foreign write for so long, things go on, in ms. */
const quietFor = 300_000;
/** What the leader before us sent may take effect for so long after we began to lead, in ms. */
const predecessorsFor = 20_000;
/** From one try to learn what was written until then to the next, in ms. */
const retryAfter = 5000;
/** A hand writes once; a writer goes on. So many writes without quiet between them are a writer's. */
const writesOfAWriter = 2;

export class ForeignWriters {
  readonly #deps: ForeignWritersDeps;
  /** What is not newer may be what the leader before us wrote; undefined until that is known. */
  #predecessorsUntil: string | undefined;
  #writes = 0;
  #last: (ForeignWrite & { readonly at: number }) | undefined;
  #cancel: () => void = () => undefined;

  constructor(deps: ForeignWritersDeps) {
    this.#deps = deps;
  }

  /**
   * Learns which writes the leader before us can have made: a watch may tell of them long after. Rejects only with the
   * signal's reason.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, collectionVersion } = this.#deps;
    await sleep(clock, predecessorsFor, signal);
    for (;;) {
      this.#predecessorsUntil = await collectionVersion(signal);
      if (this.#predecessorsUntil !== undefined) return;
      await sleep(clock, retryAfter, signal);
    }
  }

  /** Takes a newer state of a CiliumNode that is ours to write. */
  judge(previous: CiliumNode, next: CiliumNode): void {
    const { ownWrites, statusKey, leads } = this.#deps;
    const isOurs = ownWrites.isAnswer(next);
    const open = ownWrites.openOn(previous);
    ownWrites.settle(next);
    if (isOurs || !leads() || this.mayBePredecessors(next)) return;
    const parts = foreignParts({ previous, next, statusKey, open });
    if (parts.length > 0) this.#notice(next, parts);
  }

  /**
   * Whether a leader before us may have written what this state shows. Also where a later write of an agent brings it along,
   * because the watch has not come so far yet.
   */
  mayBePredecessors({ resourceVersion }: CiliumNode): boolean {
    const until = this.#predecessorsUntil;
    const known = this.#deps.knownVersion();
    if (until === undefined || known === undefined || ageOf(known, until) === 'older') return true;
    const age = ageOf(resourceVersion, until);
    return age === 'older' || age === 'same';
  }

  /** The write that things are stopped for, and how long it has to stay quiet yet, in ms. */
  get last(): (ForeignWrite & { readonly quietIn: number }) | undefined {
    if (this.#last === undefined) return undefined;
    const { at, ...write } = this.#last;
    return { ...write, quietIn: at + quietFor - this.#deps.clock.monotonic() };
  }

  stop(): void {
    this.#cancel();
  }

  #notice(node: CiliumNode, parts: readonly WrittenPart[]): void {
    const { clock, metrics, tell } = this.#deps;
    const manager = parts.map((part) => node.base.managers[part]).find((name) => name !== undefined);
    const write = { node: node.name, parts, manager };
    for (const part of parts) metrics.headwater_foreign_writes_total.add({ part });
    this.#last = { ...write, at: clock.monotonic() };
    this.#writes += parts.length;
    this.#cancel();
    this.#cancel = clock.schedule(quietFor, () => this.#resume());
    tell(node, foreignWriter(manager));
    this.#stop(write);
  }

  #stop(write: ForeignWrite): void {
    const { permission, log } = this.#deps;
    const before = permission.stops.foreignWriter;
    const isWriter = this.#writes >= writesOfAWriter || write.manager?.startsWith('cilium-operator') === true;
    if (before === 'none' && !isWriter) {
      permission.change({ foreignWriter: 'suspected' });
      log.warn('somebody else wrote a CiliumNode: nothing is taken away until it has been quiet for 5 min', {
        ...write,
      });
    } else if (before !== 'atWork' && isWriter) {
      permission.change({ foreignWriter: 'atWork' });
      log.warn('another writer of CiliumNodes is at work: all is stopped until it has been quiet for 5 min', {
        ...write,
        remedy: 'see to it that no cilium-operator manages these nodes',
      });
    }
  }

  #resume(): void {
    const { permission, log } = this.#deps;
    const node = this.#last?.node;
    this.#writes = 0;
    this.#last = undefined;
    permission.change({ foreignWriter: 'none' });
    log.warn('nobody else has written a CiliumNode for 5 min: going on', { node });
  }
}
