// Moves what cluster-pool gave to the default pool: of all CiliumNodes before a leader gives out anything, and later of each one
// that can move by then. A node is to be ignored no longer, its pool gets the network, or somebody restores an older object.
import { moveOf, movePatch } from '../multi-pool/migration.ts';
import type { PoolPolicy } from '../multi-pool/pool-policy.ts';
import type { PoolNodeHolder } from '../multi-pool/pool-node-holder.ts';
import type { CiliumNodeHolders } from '../cluster-pool/cilium-node-holders.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { sleep } from '../../runtime/clock.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { TaskGroup } from '../../runtime/task-group.ts';
import type { HolderWatch } from './block-watch.ts';
import type { ModeDeps } from '../../controller/host.ts';
import { permissionToWrite } from './pool-creation.ts';

/** Tries of one CiliumNode in a row, and the waits between them, in ms. */
const retries = { tries: 10, base: 10, cap: 30_000 };
/** After that many tries, in ms. */
const tryLater = 300_000;

export class PoolMigration {
  readonly #deps: ModeDeps;
  readonly #objects: HolderWatch<PoolNodeHolder>;
  readonly #holders: CiliumNodeHolders;
  readonly #policy: PoolPolicy;
  readonly #tasks: TaskGroup;
  /** Names by uid, in order. */
  readonly #waiting = new Map<string, string>();
  readonly #moving = new Set<string>();
  /** Uids of those that a dry run logged. */
  readonly #logged = new Set<string>();
  #moved = 0;
  #isOpen = false;
  #onIdle: () => void = () => undefined;

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
    const { clock, onBug } = deps.host;
    this.#tasks = new TaskGroup({ clock, onBug });
  }

  /** Resolves once everything has moved that can move now. Rejects only with the signal's reason. */
  async open(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    this.#isOpen = true;
    this.noteAll();
    this.#advance();
    await raceAbort(promise, signal);
    if (this.#moved > 0)
      this.#deps.host.log.info('moved the blocks of cluster-pool to the default pool', {
        nodes: this.#moved,
      });
  }

  /** The default pool changed, and any of them may move now. */
  noteAll(): void {
    for (const holder of this.#objects.objects.values()) this.note(holder);
  }

  /** An object may have changed. */
  note(holder: PoolNodeHolder): void {
    const { name, uid, podCidrs } = holder;
    const isDone = this.#moving.has(uid) || this.#logged.has(uid);
    if (!this.#isOpen || podCidrs.length === 0 || isDone || this.#holders.isLeftAlone(holder)) return;
    // The caller is still taking the object in.
    if (this.#waiting.size === 0) this.#tasks.later(0, () => this.#advance());
    this.#waiting.set(uid, name);
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.#tasks.stop(deadline);
  }

  #advance(): void {
    for (const [uid, name] of this.#waiting) {
      if (this.#moving.size >= this.#deps.host.options.multiPoolMigrationWorkers) return;
      this.#waiting.delete(uid);
      this.#moving.add(uid);
      this.#tasks.beginTask(async () => {
        try {
          await this.#moveNamed(name, uid);
        } finally {
          this.#moving.delete(uid);
          this.#advance();
        }
      });
    }
    if (this.#moving.size === 0) this.#onIdle();
  }

  async #moveNamed(name: string, uid: string): Promise<void> {
    const holder = this.#objects.objects.get(name);
    if (holder === undefined || holder.uid !== uid) return;
    const refused = await this.#move(holder, this.#tasks.closing);
    if (refused === undefined || !this.#policy.noteUnmoved(holder, refused)) return;
    this.#deps.host.log.warn('the blocks of a node cannot move to the default pool', {
      node: name,
      why: refused,
    });
    this.#objects.allocator?.resume([uid]);
  }

  /** Undefined unless it cannot move. */
  async #move(first: PoolNodeHolder, signal: AbortSignal): Promise<string | undefined> {
    const { options, log, clock, random } = this.#deps.host;
    const { name, uid } = first;
    const backoff = new Backoff(retries, { clock, random });
    let holder: PoolNodeHolder | undefined = first;
    let why = '';
    while (backoff.failures < retries.tries) {
      const pool = options.ipamDefaultIpPool;
      if (holder === undefined || holder.uid !== uid || this.#holders.isLeftAlone(holder)) return undefined;
      const move = moveOf(holder, pool, this.#policy.book.get(pool));
      if (move.kind === 'none') return undefined;
      if (move.kind === 'refused') return move.why;
      if ((await permissionToWrite(this.#deps, signal)) === 'dryRun') {
        this.#logged.add(uid);
        const { podCidrs } = holder;
        log.info('dry run: would move blocks to the default pool', { node: name, pool, podCIDRs: podCidrs });
        return undefined;
      }
      const failure = await this.#write(holder, move.draft, signal);
      if (failure === undefined) return undefined;
      why = failure;
      await sleep(clock, backoff.fail(), signal);
      holder = await this.#read(name, signal);
    }
    this.#tasks.later(tryLater, () => {
      const known = this.#objects.objects.get(name);
      if (known !== undefined) this.note(known);
    });
    return why;
  }

  /** Undefined once it is written, else why not. */
  async #write(
    holder: PoolNodeHolder,
    draft: Parameters<typeof movePatch>[0],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const outcome = await this.#holders.patch(holder, movePatch(draft), signal);
    if (outcome.kind === 'gone') return undefined;
    if (outcome.kind !== 'written') return outcome.message;
    this.#moved++;
    return undefined;
  }

  async #read(name: string, signal: AbortSignal): Promise<PoolNodeHolder | undefined> {
    const { kind } = await this.#holders.read(name, signal);
    return kind === 'gone' ? undefined : this.#objects.objects.get(name);
  }
}
