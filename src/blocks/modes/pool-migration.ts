// Moves what cluster-pool gave to the default pool: of all CiliumNodes before a leader gives out anything, and later of each one
// that can move by then. A node is to be ignored no longer, its pool gets the network, or somebody restores an older object.
import { moveOf, movePatch } from '../multi-pool/migration.ts';
import type { PoolPolicy } from '../multi-pool/pool-policy.ts';
import type { PoolNodeHolder } from '../multi-pool/pool-node-holder.ts';
import type { CiliumNodeHolders } from '../cluster-pool/cilium-node-holders.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { type Result, WorkQueue } from '../../runtime/work-queue.ts';
import type { HolderWatch } from './block-watch.ts';
import type { ModeDeps } from '../../controller/host.ts';
import { permissionToWrite } from './pool-creation.ts';

/** Tries of one CiliumNode in a row, and the waits between them, in ms. */
const retries = { tries: 10, base: 10, cap: 30_000 };
/** After that many tries, in ms. */
const tryLater = 300_000;

/** A CiliumNode with blocks of cluster-pool. */
interface Unmoved {
  readonly name: string;
  readonly uid: string;
  readonly backoff: Backoff;
}

export class PoolMigration {
  readonly #deps: ModeDeps;
  readonly #objects: HolderWatch<PoolNodeHolder>;
  readonly #holders: CiliumNodeHolders;
  readonly #policy: PoolPolicy;
  readonly #queue: WorkQueue<Unmoved>;
  /** By uid. */
  readonly #unmoved = new Map<string, Unmoved>();
  /** Those that may still move now. */
  readonly #moving = new Set<Unmoved>();
  /** Uids of those that a dry run logged. */
  readonly #logged = new Set<string>();
  #moved = 0;
  #isOpen = false;
  #idle = Promise.withResolvers<void>();

  constructor(
    deps: ModeDeps,
    objects: HolderWatch<PoolNodeHolder>,
    holders: CiliumNodeHolders,
    policy: PoolPolicy,
  ) {
    this.#deps = deps;
    this.#objects = objects;
    this.#holders = holders;
    this.#policy = policy;
    const { clock, onBug, options } = deps.host;
    this.#queue = new WorkQueue<Unmoved>({
      clock,
      onBug,
      workers: options.multiPoolMigrationWorkers,
      mayStart: () => this.#isOpen,
      reconcile: (unmoved) => this.#move(unmoved),
      retryAfter: (unmoved) => this.#giveUp(unmoved),
    });
  }

  /**
   * Resolves once everything has moved that can move now; after a dry run, call it again. Rejects only with the signal's reason.
   */
  async open(signal: AbortSignal): Promise<void> {
    this.#isOpen = true;
    this.#idle = Promise.withResolvers();
    this.noteAll();
    this.#queue.serve();
    if (this.#moving.size > 0) await raceAbort(this.#idle.promise, signal);
    if (this.#moved > 0)
      this.#deps.host.log.info('moved the blocks of cluster-pool to the default pool', {
        nodes: this.#moved,
      });
  }

  /** Until it is opened again, nothing moves: pools that a dry run counts as made are not there yet. */
  close(): void {
    this.#isOpen = false;
    this.#idle.resolve();
  }

  /** Nodes whose blocks would move if this were no dry run. */
  get wouldMove(): number {
    return [...this.#objects.objects.values()].filter(
      ({ uid, podCidrs }) => podCidrs.length > 0 && this.#logged.has(uid),
    ).length;
  }

  /** These pools changed; if the default pool is one of them, any node may move now. Default: it is. */
  noteAll(names?: ReadonlySet<string>): void {
    if (names?.has(this.#deps.host.options.ipamDefaultIpPool) === false) return;
    for (const holder of this.#objects.objects.values()) this.note(holder);
  }

  /** An object may have changed. */
  note(holder: PoolNodeHolder): void {
    const { name, uid, podCidrs } = holder;
    if (!this.#isOpen || podCidrs.length === 0) return;
    const unmoved = this.#unmoved.get(uid) ?? { name, uid, backoff: new Backoff(retries, this.#deps.host) };
    if (this.#moving.has(unmoved) || this.#holders.isLeftAlone(holder)) return;
    this.#unmoved.set(uid, unmoved);
    this.#moving.add(unmoved);
    this.#queue.withdraw(unmoved);
    // The caller is still taking the object in.
    this.#queue.addLater(unmoved, 0);
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#queue.stop(deadline);
  }

  /** Nothing more is to be done for it now. */
  #end(unmoved: Unmoved): void {
    this.#moving.delete(unmoved);
    if (this.#moving.size === 0) this.#idle.resolve();
  }

  #giveUp(unmoved: Unmoved): number {
    unmoved.backoff.forget();
    this.#end(unmoved);
    return tryLater;
  }

  async #move(unmoved: Unmoved): Promise<Result> {
    const isTriedAgain = unmoved.backoff.failures > 0;
    const holder = isTriedAgain ? await this.#read(unmoved) : this.#known(unmoved);
    const why = holder && (await this.#moveIn(holder));
    if (holder !== undefined && why?.isLasting === false) {
      const requeueAfter = unmoved.backoff.fail();
      if (unmoved.backoff.failures < retries.tries) return { isFailure: true, requeueAfter };
      this.#noteUnmoved(holder, why.message);
      return { isFailure: true, requeueAfter: this.#giveUp(unmoved) };
    }
    this.#unmoved.delete(unmoved.uid);
    if (holder !== undefined) this.#noteUnmoved(holder, why?.message);
    this.#end(unmoved);
    return {};
  }

  /** Undefined unless it cannot move in this state. `isLasting`: a repetition will not change that. */
  async #moveIn(
    holder: PoolNodeHolder,
  ): Promise<{ readonly message: string; readonly isLasting: boolean } | undefined> {
    const { options } = this.#deps.host;
    const pool = options.ipamDefaultIpPool;
    const move = moveOf(holder, pool, this.#policy.book.get(pool));
    if (move.kind === 'none') return undefined;
    if (move.kind === 'refused') {
      this.#logged.delete(holder.uid);
      return { message: move.why, isLasting: true };
    }
    if ((await permissionToWrite(this.#deps, this.#queue.closing)) === 'dryRun') {
      this.#logOnce(holder, pool);
      return undefined;
    }
    if (!this.#isOpen) return { message: 'a dry run has ended: pools are made first', isLasting: false };
    const outcome = await this.#holders.patch(holder, movePatch(move.draft), this.#queue.closing);
    if (outcome.kind === 'written') this.#moved++;
    if (outcome.kind === 'written' || outcome.kind === 'gone') return undefined;
    return { message: outcome.message, isLasting: false };
  }

  #logOnce({ name: node, uid, podCidrs: podCIDRs }: PoolNodeHolder, pool: string): void {
    if (this.#logged.has(uid)) return;
    this.#logged.add(uid);
    this.#deps.host.log.info('dry run: would move blocks to the default pool', { node, pool, podCIDRs });
  }

  /** `why`: undefined if they moved, or would. */
  #noteUnmoved(holder: PoolNodeHolder, why: string | undefined): void {
    if (!this.#policy.noteUnmoved(holder, why)) return;
    const node = holder.name;
    if (why !== undefined)
      this.#deps.host.log.warn('the blocks of a node cannot move to the default pool', { node, why });
    this.#objects.allocator?.resume([holder.uid]);
  }

  async #read(unmoved: Unmoved): Promise<PoolNodeHolder | undefined> {
    const { kind } = await this.#holders.read(unmoved.name, this.#queue.closing);
    return kind === 'gone' ? undefined : this.#known(unmoved);
  }

  /** The object as last read; undefined if it is gone, or nothing may be written to it. */
  #known({ name, uid }: Unmoved): PoolNodeHolder | undefined {
    const holder = this.#objects.objects.get(name);
    return holder?.uid === uid && !this.#holders.isLeftAlone(holder) ? holder : undefined;
  }
}
