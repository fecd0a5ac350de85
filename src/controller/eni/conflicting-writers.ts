// Detects a conflicting writer of the CiliumNode parts that only Headwater writes, usually a cilium-operator
// still running. Two controllers on one node undo each other's work in Kubernetes and in the cloud.
import { leaderQuietPeriod } from '../../kubernetes/lease/lease-timings.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import type { OwnWrites } from '../../kubernetes/cilium-node/own-writes.ts';
import { isOperator } from '../../kubernetes/field-managers.ts';
import { ageOf } from '../../kubernetes/watch/resource-version.ts';
import { conflictingWriter } from '../../node/conditions/pause-condition.ts';
import { conflictingParts, setsValue, type WrittenPart } from '../../node/publish/conflicting-write.ts';
import type { CiliumNodeSection } from '../../providers/contract/cilium-node-section.ts';
import { sleep } from '../../runtime/clock.ts';
import { retry } from '../../runtime/retry.ts';
import type { ClusterCache } from './cluster-cache.ts';
import type { Host, Leadership } from '../host.ts';
import type { NodeEvents } from '../reporting/node-events.ts';

export interface ConflictingWritersDeps {
  readonly host: Pick<Host, 'clock' | 'log' | 'registry'>;
  /** If this process was frozen for longer than its lease, the new leader writes. */
  readonly leadership: Pick<Leadership, 'leads' | 'permission'>;
  readonly ownWrites: Pick<OwnWrites, 'isAnswer' | 'openOn' | 'settle'>;
  /**
   * Whether the CiliumNode belongs to a node of this cluster, as far as known. Writes of other CiliumNodes
   * prove nothing.
   */
  readonly counts: (node: CiliumNode) => boolean;
  readonly cluster: Pick<ClusterCache, 'nodesVersion'>;
  readonly writer: Pick<CiliumNodeWriter, 'collectionVersion'>;
  readonly section: Pick<CiliumNodeSection, 'key' | 'layout'>;
  readonly events: Pick<NodeEvents, 'record'>;
}

/** The last conflicting write. */
export interface ConflictingWrite {
  readonly node: string;
  readonly parts: readonly WrittenPart[];
  /** Field manager, if the API server reports it. */
  readonly manager: string | undefined;
}

/** The pause ends after this long without a conflicting write, in ms. */
const quietFor = 300_000;
/** Pause before another attempt to read the collection version, in ms. */
const retryAfter = 5000;
/**
 * A manual edit happens once; a controller keeps writing. This many writes without a quiet period count as a
 * controller.
 */
const writesOfAWriter = 2;

export class ConflictingWriters {
  readonly #deps: ConflictingWritersDeps;
  /** States up to this version may be the previous leader's writes; undefined until it is known. */
  #previousLeaderUntil: string | undefined;
  /**
   * Conflicting writes per node, and the nodes written by each manager. Writes to a single node may come from
   * its own agent or a manual edit.
   */
  readonly #writes = new Map<string, number>();
  readonly #nodes = new Map<string | undefined, Set<string>>();
  #last: (ConflictingWrite & { readonly at: number }) | undefined;
  #cancel: () => void = () => undefined;
  #isDry: boolean;
  /** Monotonic time up to which a state may be one that another writer wrote beside a dry run that has ended. */
  #quietUntil = -Infinity;

  constructor(deps: ConflictingWritersDeps) {
    this.#deps = deps;
    const { permission } = deps.leadership;
    this.#isDry = permission.pauses.dryRun;
    permission.onChange(() => {
      if (this.#isDry && !permission.pauses.dryRun)
        this.#quietUntil = deps.host.clock.monotonic() + leaderQuietPeriod;
      this.#isDry = permission.pauses.dryRun;
    });
  }

  /**
   * Determines which writes the previous leader can have made: the watch may deliver them much later. Rejects
   * only with the signal's reason.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { host, writer } = this.#deps;
    const { clock } = host;
    await sleep(clock, leaderQuietPeriod, signal);
    this.#previousLeaderUntil = await retry(
      { clock, signal },
      () => writer.collectionVersion(signal),
      (version) => (version === undefined ? retryAfter : undefined),
    );
  }

  /** Examines a newer state of a CiliumNode that is ours to write. */
  check(previous: CiliumNode, next: CiliumNode): void {
    const { ownWrites, section, leadership } = this.#deps;
    const isOurs = ownWrites.isAnswer(next);
    const open = ownWrites.openOn(previous);
    ownWrites.settle(next);
    if (isOurs || this.#isDry || !leadership.leads()) return;
    const parts = conflictingParts({ previous, next, section, open });
    const isOperators = parts.some(
      (part) => isOperator(next.base.managers[part]) && setsValue({ previous, next, section }, part),
    );
    // A new leader must not write beside an operator until it knows what the previous one wrote.
    if (parts.length === 0 || (!isOperators && this.mayBePreviousLeaders(next))) return;
    this.#recordWrite(next, parts);
  }

  /**
   * Whether the previous leader may have written what this state shows. An agent's later write can also carry
   * it, if the watch had not delivered it yet. Until a dry run ends, whoever writes is the previous leader.
   */
  mayBePreviousLeaders({ resourceVersion }: CiliumNode): boolean {
    if (this.#isDry || this.#deps.host.clock.monotonic() < this.#quietUntil) return true;
    const until = this.#previousLeaderUntil;
    const known = this.#deps.cluster.nodesVersion;
    if (until === undefined || known === undefined || ageOf(known, until) === 'older') return true;
    const age = ageOf(resourceVersion, until);
    return age === 'older' || age === 'same';
  }

  /** The conflicting write that pauses mutations, and the remaining quiet time, in ms. */
  get last(): (ConflictingWrite & { readonly quietIn: number }) | undefined {
    if (this.#last === undefined) return undefined;
    const { at, ...write } = this.#last;
    return { ...write, quietIn: at + quietFor - this.#deps.host.clock.monotonic() };
  }

  stop(): void {
    this.#cancel();
  }

  #recordWrite(node: CiliumNode, parts: readonly WrittenPart[]): void {
    const { clock, registry } = this.#deps.host;
    const manager = parts.map((part) => node.base.managers[part]).find((name) => name !== undefined);
    const write = { node: node.name, parts, manager };
    if (!this.#deps.counts(node)) return;
    this.#last = { ...write, at: clock.monotonic() };
    this.#writes.set(node.name, (this.#writes.get(node.name) ?? 0) + parts.length);
    this.#nodes.set(manager, (this.#nodes.get(manager) ?? new Set()).add(node.name));
    this.#cancel();
    this.#cancel = clock.schedule(quietFor, () => this.#resume());
    const isClusterWide = this.#isClusterWide(manager);
    this.#pause(write, isClusterWide);
    for (const part of parts) registry.metrics.headwater_conflicting_writes_total.add({ part });
    const own = this.#writtenAgain().includes(node.name) ? 'node' : 'releases';
    const { reason, message } = conflictingWriter(manager, isClusterWide ? 'fleet' : own);
    this.#deps.events.record(node, { type: 'Warning', reason, message });
  }

  /** A writer of several nodes, or one known by name, undoes work on all nodes. */
  #isClusterWide(manager: string | undefined): boolean {
    const { conflictingWriter: before, conflictingNodes } = this.#deps.leadership.permission.pauses;
    const goesOn = before === 'atWork' && conflictingNodes === undefined;
    return goesOn || isOperator(manager) || (this.#nodes.get(manager)?.size ?? 0) > 1;
  }

  #writtenAgain(): readonly string[] {
    return [...this.#writes].filter(([, count]) => count >= writesOfAWriter).map(([name]) => name);
  }

  #pause(write: ConflictingWrite, isClusterWide: boolean): void {
    const { permission } = this.#deps.leadership;
    const { log } = this.#deps.host;
    const before = JSON.stringify(permission.pauses);
    const again = this.#writtenAgain();
    const isAtWork = isClusterWide || again.length > 0;
    permission.change({
      conflictingWriter: isAtWork ? 'atWork' : 'suspected',
      conflictingNodes: isClusterWide || !isAtWork ? undefined : again,
    });
    if (JSON.stringify(permission.pauses) === before) return;
    if (!isAtWork) {
      log.warn('conflicting writer detected: releases are paused until it has been quiet for 5 min', {
        ...write,
      });
      return;
    }
    const what = isClusterWide ? 'all changes are paused' : 'all changes to its node are paused';
    log.warn(`conflicting writer continues: ${what} until it has been quiet for 5 min`, {
      ...write,
      remedy: 'make sure that no cilium-operator manages these nodes',
    });
  }

  #resume(): void {
    const { permission } = this.#deps.leadership;
    const { log } = this.#deps.host;
    const node = this.#last?.node;
    this.#writes.clear();
    this.#nodes.clear();
    this.#last = undefined;
    permission.change({ conflictingWriter: 'none', conflictingNodes: undefined });
    log.warn('no conflicting write for 5 min: resuming', { node });
  }
}
