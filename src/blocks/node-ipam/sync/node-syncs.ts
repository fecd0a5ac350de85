// Syncs the pod CIDRs of Nodes with the CIDRs that a cloud routes to their instances: a work queue of Nodes, with a
// bounded number of reads at once, the oldest Node first. The mode names the side that decides, the Node or its instance.
import { type Result, WorkQueue } from '../../../runtime/work-queue.ts';
import type { MissingBlock } from '../../allocation/allocation-policy.ts';
import type { Standing } from '../../allocation/allocator-entry.ts';
import type { AllocatorOf, AllocatorPorts } from '../../allocation/block-allocator.ts';
import { blockCondition, type BlockFacts, type BlockWords } from '../../allocation/block-condition.ts';
import type { Assignment, BlockCondition } from '../../allocation/block-holders.ts';
import { type BlockLedger, onlyPool } from '../../allocation/block-ledger.ts';
import { bySeniority, conflictOf } from '../../allocation/seniority.ts';
import { type Cidr, cidrText, type Family } from '../../set/cidr.ts';
import type { AliasHolder, NodeHolders } from '../node-holders.ts';
import { type AliasFailure, type CloudAliases, readAliases } from '../cloud/cloud-aliases.ts';
import {
  type AliasObstacle,
  invalidMode,
  mismatch,
  type SyncMode,
  syncStep,
  unreadableAtDeletion,
  unusableAlias,
} from './sync-step.ts';
import { SyncEntry } from './sync-entry.ts';
import { SyncBackoff, type SyncBackoffSettings } from './sync-backoff.ts';

export interface NodeSyncsDeps {
  readonly mode: SyncMode;
  readonly timeouts: SyncBackoffSettings;
  /** A ledger of one pool. */
  readonly ledger: BlockLedger;
  /** The family of the network that blocks come from. */
  readonly family: Family;
  readonly aliases: CloudAliases;
  readonly holders: Pick<NodeHolders, 'assign' | 'read' | 'setNetworkReady'>;
  readonly words: BlockWords;
}

/** How a look ended. */
interface SyncOutcome {
  readonly isFine: boolean;
  /** How long the other side asks to be left alone, in ms. */
  readonly retryAfterMs?: number;
}

const fine: SyncOutcome = { isFine: true };
const notFine: SyncOutcome = { isFine: false };

export class NodeSyncs implements AllocatorOf<AliasHolder> {
  readonly #deps: NodeSyncsDeps;
  readonly #ports: AllocatorPorts;
  readonly #entries = new Map<string, SyncEntry>();
  readonly #queue: WorkQueue<SyncEntry>;
  #hasStarted = false;

  constructor(deps: NodeSyncsDeps, ports: AllocatorPorts) {
    this.#deps = deps;
    this.#ports = ports;
    const { clock, onBug, workers } = ports;
    this.#queue = new WorkQueue<SyncEntry>({
      clock,
      onBug,
      workers,
      compare: (a, b) => bySeniority(a.holder, b.holder),
      // A Node late in a list may have what an early one would get.
      mayStart: () => this.#hasStarted && ports.refusal() !== 'listing',
      reconcile: (entry) => this.#reconcile(entry),
      retryAfter: ({ backoff }) => backoff.afterFailure(),
    });
  }

  takeOverHolders(holders: Iterable<AliasHolder>): void {
    const added = [...holders].toSorted(bySeniority).map((holder) => this.#add(holder));
    this.#hasStarted = true;
    for (const entry of added) this.#queue.add(entry);
  }

  apply(name: string, holder: AliasHolder | undefined): void {
    const known = this.#entries.get(name);
    if (known !== undefined && known.holder.uid === holder?.uid) {
      this.#update(known, holder);
      return;
    }
    if (known !== undefined) this.#remove(known);
    if (holder !== undefined) this.#queue.add(this.#add(holder));
  }

  reassess(name: string): void {
    const entry = this.#entries.get(name);
    if (entry !== undefined) this.#queue.add(entry);
  }

  resume(): void {
    for (const entry of this.#entries.values()) {
      if (!entry.isHeldBack) continue;
      entry.isHeldBack = false;
      this.#queue.add(entry);
    }
    this.#queue.serve();
  }

  /** The cloud refuses an alias that another instance has: a late write gives no block twice. */
  async stop(deadline: AbortSignal): Promise<'ended'> {
    await this.#queue.stop(deadline);
    return 'ended';
  }

  standings(): readonly Standing[] {
    return [...this.#entries.values()].map(({ standing }) => standing);
  }

  standing(name: string): Standing | undefined {
    return this.#entries.get(name)?.standing;
  }

  waiting(): readonly MissingBlock[] {
    const { family } = this.#deps;
    return this.standings()
      .filter(({ standing }) => standing === 'waiting')
      .map(() => ({ pool: onlyPool, family }));
  }

  #add(holder: AliasHolder): SyncEntry {
    const { ledger, timeouts } = this.#deps;
    const entry = new SyncEntry(holder, new SyncBackoff(timeouts), ledger, this.#ports);
    this.#entries.set(holder.name, entry);
    return entry;
  }

  #update(entry: SyncEntry, holder: AliasHolder): void {
    const isNewlyShown = entry.holder.blocks.length === 0 && holder.blocks.length > 0;
    const { taken } = entry;
    const isOurs = taken !== undefined && cidrText(taken) === holder.blocks[0];
    if (isNewlyShown && !isOurs) this.#ports.emit({ kind: 'othersBlocks', holder });
    if (entry.update(holder)) this.#queue.add(entry);
  }

  /** Frees the blocks of a Node. Call it only once the object is gone. */
  #remove(entry: SyncEntry): void {
    const { ledger } = this.#deps;
    const { holder, shown } = entry;
    this.#queue.forget(entry);
    entry.isGone = true;
    this.#entries.delete(holder.name);
    const { unreadable } = shown;
    if (unreadable !== undefined) this.#report(entry, unreadableAtDeletion(unreadable.text));
    for (const { cidr } of ledger.release(holder.uid, ledger.heldBy(holder.uid))) this.#free(cidr);
  }

  #free(cidr: Cidr): void {
    const { ledger } = this.#deps;
    this.#ports.emit({ kind: 'freed', cidr, pool: ledger.poolOf(cidr) });
    for (const entry of this.#entries.values())
      if (entry.condition?.reason === 'PodCIDRsExhausted') this.#queue.add(entry);
  }

  async #reconcile(entry: SyncEntry): Promise<Result> {
    const { isFine, retryAfterMs = 0 } = await this.#sync(entry);
    const after = isFine ? entry.backoff.afterSuccess() : entry.backoff.afterFailure();
    return { isFailure: !isFine, requeueAfter: retryAfterMs > 0 ? retryAfterMs : after };
  }

  /** Whether the Node is gone, or nothing may follow. */
  #isOver({ isGone }: SyncEntry): boolean {
    return isGone || this.#queue.isStopping;
  }

  async #sync(entry: SyncEntry): Promise<SyncOutcome> {
    if (entry.holder.isLeftAlone) return fine;
    if (!this.#admit(entry)) return notFine;
    const reading = await readAliases(this.#deps.aliases, entry.holder, this.#queue.deadline);
    if (this.#isOver(entry) || entry.holder.isLeftAlone) return fine;
    if (reading.kind !== 'read') return this.#fail(entry, conditionOf(reading), reading.retryAfterMs);
    const replaced = entry.noteAliases(reading.aliases);
    if (replaced !== undefined) this.#free(replaced);
    if (entry.holder.blocks.length > 0 && entry.shown.cidrs.length === 0) return this.#rest(entry);
    return this.#bringIntoAccord(entry);
  }

  /** If nothing may be written now, the entry goes on when that may have changed. Returns whether it goes on now. */
  #admit(entry: SyncEntry): boolean {
    const why = this.#ports.refusal();
    const isRefused = why !== undefined && why !== 'dryRun';
    // Nothing tells when the Lease is ours again: the loop finds out.
    entry.isHeldBack = isRefused && why !== 'notLeading';
    return !isRefused;
  }

  #bringIntoAccord(entry: SyncEntry): Promise<SyncOutcome> | SyncOutcome {
    const { family, mode } = this.#deps;
    const [podCidr, alias] = [entry.shown.cidrs, entry.aliases].map((cidrs) =>
      cidrs.find((cidr) => cidr.family === family),
    );
    // The API server adds no second family to a Node.
    const facts = { podCidr: podCidr ?? entry.shown.cidrs[0], alias, taken: entry.taken };
    const step = syncStep(mode, facts);
    switch (step.kind) {
      case 'allocate':
        return this.#allocate(entry);
      case 'addAlias':
        return this.#addAlias(entry, step.cidr);
      case 'setPodCidr':
        return this.#setPodCidr(entry, step.cidr);
      case 'inSync':
        return this.#confirm(entry);
      case 'mismatch':
        this.#report(entry, mismatch(step.podCidr, step.alias));
        return fine;
      case 'invalidMode':
        return this.#fail(entry, invalidMode(mode, facts));
    }
  }

  #allocate(entry: SyncEntry): Promise<SyncOutcome> | SyncOutcome {
    const block = entry.taken ?? this.#takeBlock(entry);
    if (block !== undefined) return this.#addAlias(entry, block);
    const exhausted = blockCondition(
      { ...this.#blockFacts(entry), shortage: { exhausted: [this.#deps.family] } },
      this.#deps.words,
    );
    return exhausted === undefined ? notFine : this.#fail(entry, exhausted);
  }

  #takeBlock(entry: SyncEntry): Cidr | undefined {
    const { ledger, family } = this.#deps;
    const allocated = ledger.allocate(family, entry.holder.uid);
    if (allocated === undefined) return undefined;
    entry.take(allocated.cidr);
    this.#ports.emit({ kind: 'allocated', allocated });
    return allocated.cidr;
  }

  /** Adds the block to the instance in the cloud. It becomes the pod CIDR of the Node once the cloud routes it there. */
  async #addAlias(entry: SyncEntry, cidr: Cidr): Promise<SyncOutcome> {
    const { aliases } = this.#deps;
    if (this.#isDry(entry, cidr)) return fine;
    if (!this.#admit(entry)) return notFine;
    const addition = await aliases.addAlias(entry.holder, cidrText(cidr), this.#queue.deadline);
    if (this.#isOver(entry)) return fine;
    if (addition.kind !== 'added') return this.#notAdded(entry, cidr, addition);
    return entry.shown.cidrs.length > 0 ? this.#confirm(entry) : this.#setPodCidr(entry, cidr);
  }

  #notAdded(entry: SyncEntry, cidr: Cidr, failure: AliasFailure): SyncOutcome {
    if (failure.kind === 'unclear') entry.doubt(cidr);
    const isHard = failure.kind === 'refused' || failure.kind === 'notFound';
    if (isHard && entry.taken !== undefined && entry.cancelTaken()) this.#free(cidr);
    return this.#fail(entry, conditionOf(failure), failure.retryAfterMs);
  }

  async #setPodCidr(entry: SyncEntry, cidr: Cidr): Promise<SyncOutcome> {
    const obstacle = this.#obstacleTo(entry, cidr);
    if (obstacle !== undefined) return this.#fail(entry, unusableAlias(cidr, obstacle));
    if (this.#isDry(entry, cidr)) return fine;
    const { holder } = entry;
    if (holder.blocks.length > 0 || !this.#admit(entry)) return notFine;
    entry.take(cidr);
    return this.#afterWrite(
      entry,
      await this.#deps.holders.assign(holder, [cidrText(cidr)], this.#queue.deadline),
    );
  }

  /** The pod CIDR is routed to the instance: the network of the Node is available. */
  async #confirm(entry: SyncEntry): Promise<SyncOutcome> {
    const { holder } = entry;
    if (holder.isNetworkReady || this.#ports.refusal() === 'dryRun') return this.#rest(entry);
    if (!this.#admit(entry)) return notFine;
    return this.#afterWrite(entry, await this.#deps.holders.setNetworkReady(holder, this.#queue.deadline));
  }

  async #afterWrite(entry: SyncEntry, outcome: Assignment): Promise<SyncOutcome> {
    this.#ports.emit({ kind: 'written', holder: entry.holder, outcome });
    switch (outcome.kind) {
      case 'written':
        return this.#isOver(entry) ? fine : this.#confirm(entry);
      case 'gone':
        return fine;
      case 'denied':
      case 'invalid':
        return this.#fail(entry, {
          reason: 'WriteRefused',
          message: `its block cannot be written: ${outcome.message}`,
        });
      case 'conflict':
        return this.#readAgain(entry, undefined);
      case 'unavailable':
        return this.#readAgain(entry, outcome.retryAfterMs);
    }
  }

  /** The write may have taken effect. */
  async #readAgain(entry: SyncEntry, retryAfterMs: number | undefined): Promise<SyncOutcome> {
    await this.#deps.holders.read(entry.holder.name, this.#queue.deadline);
    return { ...notFine, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }

  #isDry(entry: SyncEntry, cidr: Cidr): boolean {
    if (this.#ports.refusal() !== 'dryRun') return false;
    const { holder } = entry;
    const block = cidrText(cidr);
    if (entry.toldBlock !== block) this.#ports.emit({ kind: 'wouldAssign', holder, blocks: [block] });
    entry.toldBlock = block;
    return true;
  }

  #obstacleTo({ holder: { uid } }: SyncEntry, cidr: Cidr): AliasObstacle | undefined {
    const { ledger } = this.#deps;
    const [other] = this.#othersHolding(cidr, uid);
    if (other !== undefined) return { kind: 'other', node: other.name };
    if (ledger.poolOf(cidr) === undefined) return { kind: 'outside' };
    return ledger.isReserved(cidr) ? { kind: 'services' } : undefined;
  }

  /** Other Nodes that show a part of `cidr`, or to which the cloud routes a part of it. */
  #othersHolding(cidr: Cidr, uid: string): readonly AliasHolder[] {
    const uids = this.#deps.ledger.othersHolding([cidr], uid);
    return uids.length === 0
      ? []
      : Array.from(this.#entries.values(), ({ holder }) => holder).filter((each) => uids.includes(each.uid));
  }

  /** All is well, but for what is wrong with its pod CIDR itself. */
  #rest(entry: SyncEntry): SyncOutcome {
    this.#report(entry, blockCondition(this.#blockFacts(entry), this.#deps.words));
    return fine;
  }

  #blockFacts({ holder, shown }: SyncEntry): BlockFacts {
    const { ledger } = this.#deps;
    const own = shown.cidrs.map((cidr) => ({ cidr }));
    return {
      holder,
      shown,
      placement: {
        conflict: conflictOf(holder, own, (cidr) => this.#othersHolding(cidr, holder.uid)),
        ...ledger.misplaced(shown.cidrs),
      },
      service: { refused: undefined, isPaused: false },
    };
  }

  #fail(entry: SyncEntry, condition: BlockCondition, retryAfterMs?: number): SyncOutcome {
    this.#report(entry, condition);
    return { ...notFine, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }

  #report(entry: SyncEntry, condition: BlockCondition | undefined): void {
    const before = entry.condition;
    if (condition?.message === before?.message) return;
    entry.condition = condition;
    this.#ports.emit({ kind: 'condition', holder: entry.holder, condition, before });
  }
}

function conditionOf({ reason, message }: AliasFailure): BlockCondition {
  return { reason, message };
}
