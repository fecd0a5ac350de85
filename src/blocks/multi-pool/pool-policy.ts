// Blocks of a CiliumNode in the mode multi-pool: for each pool and family that its agent asks for, as many blocks as hold the
// addresses. Blocks are only added; the agent gives them back. Blocks whose pool has gone are orphans: they stay the node's.
import type { CiliumPodIpPool } from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { maxCidrsRead } from '../../kubernetes/cilium-node/cilium-node-pools.ts';
import type { PodReading } from '../../kubernetes/watch/shown-pods.ts';
import type {
  AllocationPolicy,
  Change,
  MissingBlock,
  Reservation,
  ServiceFacts,
} from '../allocation/allocation-policy.ts';
import type { BlockCondition, HolderName } from '../allocation/block-holders.ts';
import type { CiliumNodeHolders } from '../cluster-pool/cilium-node-holders.ts';
import type { AwaitingBlocks } from '../cluster-pool/pod-looks.ts';
import type { Allocated, BlockLedger, Freed } from '../allocation/block-ledger.ts';
import type { LeftHoldings } from '../allocation/left-holdings.ts';
import { NodeClaims } from '../allocation/node-claims.ts';
import { type BlockConflict, conflictOf } from '../allocation/seniority.ts';
import { type Cidr, cidrOf, cidrText, families, isAmong, network, overlaps } from '../set/cidr.ts';
import { isListed, shownBlocks } from './block-returns.ts';
import { isOlder, type Known, newKnown, offeredTo, usedPools } from './known-pool-node.ts';
import { type ListedBlock, PoolBook } from './pool-book.ts';
import { poolClaims, poolCondition, standingOf } from './pool-condition.ts';
import { listedEnds } from './pool-definition.ts';
import { allocatedPatch, listedBlocks, type PoolNodeHolder, withBlocks } from './pool-node-holder.ts';
import { PoolSupply } from './pool-supply.ts';
import { PoolUsers } from './pool-users.ts';
import { type PoolWant, wantOf } from './pool-want.ts';

/** Blocks that an agent returned, and may list again. */
const maxRemembered = 32;

const nothing: Change = { others: [], freed: [] };

export type PoolPolicyEvent =
  /** These pools, or what is wrong with them, may have changed. */
  | { readonly kind: 'pools'; readonly names: ReadonlySet<string> }
  /** A node shows blocks of cluster-pool. */
  | { readonly kind: 'podCidrs'; readonly holder: PoolNodeHolder }
  /** Blocks wait for a look at the pods of their node, or the look has ended: what none of them uses goes once the node is taken in again. */
  | { readonly kind: 'dropped' | 'looked'; readonly holder: PoolNodeHolder };

export interface PoolPolicyDeps {
  readonly writer: Pick<CiliumNodeHolders, 'patch'>;
  /** The part of what nodes list that they hold. Default: all of it. */
  readonly claims?: NodeClaims;
  /** Blocks that objects left whose pods may run on. Default: what an object had is free with it. */
  readonly left?: LeftHoldings;
  /** Whether blocks that an agent drops wait for a look at the pods of their node. Default: its word is enough. */
  readonly looksAtPods?: boolean;
  readonly emit?: (event: PoolPolicyEvent) => void;
}

export class PoolPolicy implements AllocationPolicy<PoolNodeHolder>, AwaitingBlocks {
  /** An agent asks for more again and again while its pods start. */
  readonly writesInARow = 30;
  readonly book: PoolBook;
  readonly #ledger: BlockLedger;
  readonly #deps: PoolPolicyDeps;
  readonly #claims: NodeClaims;
  readonly #supply: PoolSupply;
  readonly #known = new Map<string, Known>();
  readonly #users = new PoolUsers();
  /** Whether pools are yet to come that an option names: none is told as missing. */
  awaitsPools = false;

  constructor(ledger: BlockLedger, deps: PoolPolicyDeps) {
    this.#ledger = ledger;
    this.#deps = deps;
    this.#claims = deps.claims ?? new NodeClaims(ledger, Infinity, () => undefined);
    this.book = new PoolBook({ isUsed: (pool) => this.#isUsed(pool) });
    this.#supply = new PoolSupply(ledger, this.book, this.#claims);
  }

  /** Takes in pools as they are now, all that changed at once; `undefined` for one that is gone. Returns uids of nodes concerned. */
  changePools(
    changes: Iterable<readonly [name: string, pool: CiliumPodIpPool | undefined]>,
  ): readonly string[] {
    const given = [...changes];
    for (const [name, pool] of given) if (pool === undefined) this.book.delete(name);
    for (const [, pool] of given) if (pool !== undefined) this.book.set(pool);
    this.book.recheck();
    return this.#applyPools();
  }

  #applyPools(): readonly string[] {
    const names = this.book.takeChanged();
    const networks = [...names].map((name) => [name, this.book.get(name)?.definition?.cidrs ?? []] as const);
    const moved = this.#ledger.change(new Map(networks));
    const concerned = new Set([...names].flatMap((name) => [...this.#users.of(name)]));
    for (const uid of moved) concerned.add(uid);
    for (const known of [...concerned].flatMap((uid) => this.#known.get(uid) ?? [])) {
      if (moved.has(known.holder.uid)) this.#claim(known);
      known.wants = undefined;
      this.#settle(known);
    }
    this.#deps.emit?.({ kind: 'pools', names });
    return [...concerned];
  }

  hold(holder: PoolNodeHolder, before: PoolNodeHolder | undefined): Change {
    const change = this.#takeIn(holder, before);
    if (holder.podCidrs.length > 0) this.#deps.emit?.({ kind: 'podCidrs', holder });
    return change;
  }

  #takeIn(holder: PoolNodeHolder, before: PoolNodeHolder | undefined): Change {
    const known = this.#known.get(holder.uid);
    const listed = listedBlocks(holder);
    if (known === undefined) {
      const next = newKnown(holder, listed);
      this.#known.set(holder.uid, next);
      this.#users.set(holder.uid, usedPools(next, this.#ledger));
      return { others: this.#hold(next), freed: [] };
    }
    const missing = shownBlocks(known).filter((block) => !isListed(listed, block));
    const isWhole = listed.length > 0 && holder.problem === undefined;
    Object.assign(known, { holder, listed, unlisted: isWhole ? [] : missing, wants: undefined });
    this.#users.set(holder.uid, usedPools(known, this.#ledger));
    const confirmIn = known.returns.noteEmpty(known);
    const others = this.#hold(known);
    const dropped = isWhole && !isOlder(holder, before) ? missing : [];
    const freed = [...this.#release(known, this.#mayGo(known, dropped)), ...this.#settle(known)];
    const next = confirmIn && { confirmIn };
    if (freed.length === 0) return { others, freed, ...next };
    known.returned = [...known.returned, ...freed.map(({ cidr }) => cidr)].slice(-maxRemembered);
    return { others: [...others, ...this.#noteFreed(known, freed)], freed, ...next };
  }

  awaitLook({ uid }: HolderName): boolean {
    return this.#known.get(uid)?.returns.areWaiting === true;
  }

  beginLook({ uid }: HolderName): void {
    const known = this.#known.get(uid);
    known?.returns.beginLook(offeredTo(known));
  }

  lookedAt({ uid }: HolderName, reading: PodReading): void {
    const known = this.#known.get(uid);
    if (known === undefined) return;
    known.returns.lookedAt(reading);
    this.#deps.emit?.({ kind: 'looked', holder: known.holder });
  }

  /**
   * The block around an address that a pod shows, although neither the agent of its node lists it nor anybody else holds it: it was
   * dropped before this process led. `uid`: of the CiliumNode; undefined if that is gone. Undefined if there is no such block.
   */
  forgottenBlock(uid: string | undefined, address: Cidr): ListedBlock | undefined {
    const pool = this.#ledger.poolOf(address);
    if (pool === undefined || this.#isOwn(uid, address)) return undefined;
    const cidr = network(address.family, address.base, pool.maskSize);
    return this.#ledger.othersHolding([cidr], uid ?? '').length > 0 ? undefined : { pool: pool.pool, cidr };
  }

  /** Whether a pod of the node shows an address of no pool, and of no block that the node has. A pool may come that has it. */
  isOutside(uid: string, address: Cidr): boolean {
    return this.#ledger.poolOf(address) === undefined && !this.#isOwn(uid, address);
  }

  #isOwn(uid: string | undefined, address: Cidr): boolean {
    if (uid === undefined) return false;
    const own = [
      ...this.#ledger.heldBy(uid),
      ...(this.#known.get(uid)?.listed ?? []).map(({ cidr }) => cidr),
    ];
    return own.some((each) => overlaps(each, address));
  }

  /** The block is the node's again, and goes as one that its agent drops now. */
  remember(uid: string, block: ListedBlock): void {
    const known = this.#known.get(uid);
    if (known === undefined) return;
    this.#ledger.hold(uid, block.cidr);
    known.returns.keep(block);
    this.#deps.emit?.({ kind: 'dropped', holder: known.holder });
  }

  /** Blocks that go now, of those that an agent dropped just now, and before. */
  #mayGo(known: Known, dropped: readonly ListedBlock[]): readonly Cidr[] {
    const { looksAtPods = false, emit } = this.#deps;
    if (!looksAtPods) return dropped.map(({ cidr }) => cidr);
    const gone = known.returns.wait(dropped, known.listed);
    if (dropped.length > 0) emit?.({ kind: 'dropped', holder: known.holder });
    return gone;
  }

  /** The agent has listed nothing and asked for nothing all the time: it gave its last blocks back. */
  confirm({ uid }: PoolNodeHolder, episode: number): Change {
    const known = this.#known.get(uid);
    if (known?.returns.confirm(episode) !== true) return nothing;
    const { unlisted } = known;
    Object.assign(known, { unlisted: [], wants: undefined });
    const freed = this.#release(known, this.#mayGo(known, unlisted));
    return { others: this.#noteFreed(known, freed), freed };
  }

  release({ uid, name }: PoolNodeHolder): Change {
    const known = this.#known.get(uid);
    if (known === undefined) return nothing;
    const { left } = this.#deps;
    const held = this.#ledger.heldBy(uid);
    const others = this.#ledger.othersHolding(held, uid);
    this.#known.delete(uid);
    this.#claims.forget({ uid });
    this.#users.delete(uid);
    left?.leave({ name, uid });
    if (left !== undefined) return { others, freed: [] };
    const freed = this.#release(known, held);
    return { others: [...others, ...this.#noteFreed(known, freed)], freed };
  }

  /** Why the blocks of cluster-pool that a node has cannot move to the default pool; undefined if they can. Returns whether that is new. */
  noteUnmoved({ uid }: PoolNodeHolder, why: string | undefined): boolean {
    const known = this.#known.get(uid);
    if (known === undefined || known.unmoved === why) return false;
    known.unmoved = why;
    return true;
  }

  /** An agent may list again what it just returned, or had before somebody deleted its object. */
  isOurs(holder: PoolNodeHolder): boolean {
    const { returned = [], unconfirmed = [] } = this.#known.get(holder.uid) ?? {};
    const had = this.#deps.left?.hadBy(holder.name) ?? [];
    const own = [...this.#ledger.heldBy(holder.uid), ...returned, ...unconfirmed, ...had];
    return listedBlocks(holder).every(({ cidr }) => isAmong(own, cidr));
  }

  isNews(holder: PoolNodeHolder, before: PoolNodeHolder): boolean {
    return holder.digest !== before.digest;
  }

  asksOtherwise({ requested }: PoolNodeHolder, before: PoolNodeHolder): boolean {
    return JSON.stringify(requested) !== JSON.stringify(before.requested);
  }

  missingBlocks({ uid }: PoolNodeHolder): readonly MissingBlock[] {
    const known = this.#known.get(uid);
    return known === undefined ? [] : this.#wantsOf(known);
  }

  reserve({ uid }: PoolNodeHolder): Reservation | undefined {
    const known = this.#known.get(uid);
    const { left } = this.#deps;
    if (known === undefined || left?.isUnsure(known.holder.name) === true) return undefined;
    for (const cidr of left?.claim(known.holder.name) ?? [])
      this.remember(uid, { pool: this.#ledger.poolOf(cidr)?.pool ?? '', cidr });
    const allocated: Allocated[] = [];
    const added = this.#wantsOf(known).flatMap((want) =>
      this.#supply.take(known, want, allocated).map((cidr) => ({ pool: want.pool, cidr })),
    );
    if (added.length === 0) return undefined;
    // The list that it then shows is whole: what its agent leaves out of it afterwards, that agent returns.
    added.push(...this.#supply.returnable(known).filter((block) => !isListed(added, block)));
    const taken = allocated.map(({ cidr }) => cidr);
    this.#claims.noteGiven(known.holder, taken);
    known.reserved = [...known.reserved, ...taken];
    const texts = added.map(({ cidr }) => cidrText(cidr));
    const isKnown = texts.join() === known.added.map(cidrText).join();
    Object.assign(known, { version: known.holder.version, added: added.map(({ cidr }) => cidr) });
    known.returns.noteOffer(known.added);
    const { holder } = known;
    const spec = allocatedPatch(
      withBlocks(holder.rawAllocated, added, (pool) => listedEnds(this.book.get(pool)?.definition)),
    );
    return {
      write: (signal) => this.#deps.writer.patch(holder, spec, signal),
      blocks: [...holder.blocks, ...texts],
      fresh: known.reserved.map(cidrText),
      isKnown,
      allocated,
    };
  }

  cancel({ uid }: PoolNodeHolder): void {
    const known = this.#known.get(uid);
    if (known === undefined) return;
    this.#release(known, known.reserved);
    known.added = [];
  }

  conditionOf(holder: PoolNodeHolder, service: ServiceFacts): BlockCondition | undefined {
    const known = this.#known.get(holder.uid);
    if (known === undefined) return undefined;
    return poolCondition({
      holder,
      faults: {
        unmoved: holder.podCidrs.length > 0 ? known.unmoved : undefined,
        conflict: this.#conflictOf(known),
        orphans: shownBlocks(known).filter((block) => this.#isOrphan(block)),
      },
      shortage: {
        wants: service.isWaiting ? this.#unserved(known) : [],
        maxCidrs: this.#supply.isFull(known) ? maxCidrsRead : undefined,
        standingOf: (pool) => standingOf(this.book.get(pool)),
        largestOf: ({ family, pool }) =>
          this.#ledger.largestHolders(family, pool).flatMap((uid) => this.#known.get(uid)?.holder.name ?? []),
      },
      claims: poolClaims(known, {
        claims: this.#claims,
        counts: this.#ledger.blocksOf(holder.uid),
        wants: this.#wantsOf(known),
        definitionOf: (pool) => this.book.get(pool)?.definition,
      }),
      look: known.returns.look,
      service,
    });
  }

  #unserved(known: Known): readonly PoolWant[] {
    const isTold = ({ pool }: PoolWant): boolean => !this.awaitsPools || this.book.get(pool) !== undefined;
    return this.#wantsOf(known).filter((want) => isTold(want) && !this.#supply.canServe(known, want));
  }

  /** Blocks that nodes list under the name of a pool that does not have them. */
  *orphans(): Generator<ListedBlock & { readonly node: string }> {
    for (const known of this.#known.values())
      for (const block of shownBlocks(known))
        if (this.#isOrphan(block)) yield { ...block, node: known.holder.name };
  }

  #isOrphan({ pool, cidr }: ListedBlock): boolean {
    return this.#ledger.poolOf(cidr)?.pool !== pool;
  }

  #isUsed(pool: string): boolean {
    for (const uid of this.#users.of(pool)) {
      const known = this.#known.get(uid);
      if (known === undefined) continue;
      if (shownBlocks(known).some((each) => each.pool === pool)) return true;
      if (known.reserved.some((cidr) => this.#ledger.poolOf(cidr)?.pool === pool)) return true;
    }
    return false;
  }

  /** Blocks of cluster-pool are held, too. */
  #hold(known: Known): readonly string[] {
    const { uid } = known.holder;
    return this.#ledger.othersHolding(this.#claim(known), uid);
  }

  #claim(known: Known): readonly Cidr[] {
    const { holder, listed } = known;
    const cidrs = [
      ...listed.map(({ cidr }) => cidr),
      ...holder.podCidrs.flatMap((text) => cidrOf(text) ?? []),
    ];
    known.unconfirmed = this.#claims.hold(holder, cidrs);
    return cidrs;
  }

  #release(known: Known, cidrs: readonly Cidr[]): readonly Freed[] {
    const { uid } = known.holder;
    known.reserved = known.reserved.filter((cidr) => !isAmong(cidrs, cidr));
    return this.#ledger.release(uid, cidrs);
  }

  /** A conflict about these is over, and the last block of a pool may have kept it from a change. Returns who may be concerned. */
  #noteFreed({ holder }: Known, freed: readonly Freed[]): readonly string[] {
    const cidrs = freed.map(({ cidr }) => cidr);
    const sharing = this.#ledger.othersHolding(cidrs, holder.uid);
    const mayChange = this.book.hasProblems && freed.length > 0;
    return [...sharing, ...(mayChange && this.book.recheck() ? this.#applyPools() : [])];
  }

  /** Frees what is reserved and no longer lacking, once the state has passed that the write of it is bound to. */
  #settle(known: Known): readonly Freed[] {
    const { holder } = known;
    known.reserved = known.reserved.filter((cidr) => !isListed(known.listed, { cidr }));
    if (known.reserved.length === 0 || known.version === holder.version || holder.problem !== undefined)
      return [];
    const wanted = this.#wantsOf(known).flatMap((want) => this.#supply.ownBlocks(known, want));
    const idle = known.reserved.filter((cidr) => !isAmong(wanted, cidr));
    return this.#release(known, idle);
  }

  #wantsOf(known: Known): readonly PoolWant[] {
    return (known.wants ??= known.holder.requested.flatMap(({ pool, ...asked }) =>
      families.flatMap((family) =>
        wantOf(known, { pool, family, addresses: asked[family] }, this.book.get(pool)?.definition),
      ),
    ));
  }

  #conflictOf({ holder, listed, unconfirmed }: Known): (ListedBlock & BlockConflict) | undefined {
    const held = listed.filter(({ cidr }) => !isAmong(unconfirmed, cidr));
    return conflictOf(holder, held, (cidr) =>
      this.#ledger.othersHolding([cidr], holder.uid).flatMap((uid) => this.#known.get(uid)?.holder ?? []),
    );
  }
}
