// Moves what cluster-pool gave to the default pool: of all CiliumNodes before a leader gives out anything, and later of each one
// that can move by then. A node is to be ignored no longer, its pool gets the network, or somebody restores an older object.
import { moveOf, movePatch } from '../multi-pool/migration.ts';
import type { PoolPolicy } from '../multi-pool/pool-policy.ts';
import { type PoolNodeHolder, poolNodeHolder } from '../multi-pool/pool-node-holder.ts';
import type { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { sleep } from '../../runtime/clock.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { TaskGroup } from '../../runtime/task-group.ts';
import type { BlockPorts } from './block-mode.ts';
import type { ModeDeps } from '../../controller/host.ts';

export interface PoolMigrationDeps extends Pick<ModeDeps, 'host' | 'leadership'> {
  readonly writer: Pick<CiliumNodeWriter, 'get' | 'patchSpec'>;
  readonly policy: PoolPolicy;
  /** Whether nothing may be written to the CiliumNode. */
  readonly isLeftAlone: (holder: PoolNodeHolder) => boolean;
  readonly ports: Pick<BlockPorts<PoolNodeHolder>, 'known' | 'mayWrite' | 'observe' | 'resume'>;
}

/** Tries of one CiliumNode in a row, and the waits between them, in ms. */
const retries = { tries: 10, base: 10, cap: 30_000 };
/** After that many tries, in ms. */
const tryLater = 300_000;
/** Between two checks of whether anything may be written, in ms. */
const pause = 500;

export class PoolMigration {
  readonly #deps: PoolMigrationDeps;
  readonly #tasks: TaskGroup;
  /** Names by uid, in order. */
  readonly #waiting = new Map<string, string>();
  readonly #moving = new Set<string>();
  /** Uids of those that a dry run logged. */
  readonly #logged = new Set<string>();
  #moved = 0;
  #isOpen = false;
  #onIdle: () => void = () => undefined;

  constructor(deps: PoolMigrationDeps) {
    this.#deps = deps;
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
    for (const holder of this.#deps.ports.known().values()) this.note(holder);
  }

  /** An object may have changed. */
  note(holder: PoolNodeHolder): void {
    const { name, uid, podCidrs } = holder;
    const isDone = this.#moving.has(uid) || this.#logged.has(uid);
    if (!this.#isOpen || podCidrs.length === 0 || isDone || this.#deps.isLeftAlone(holder)) return;
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
    const holder = this.#deps.ports.known().get(name);
    if (holder === undefined || holder.uid !== uid) return;
    const refused = await this.#move(holder, this.#tasks.closing);
    if (refused === undefined) return;
    const { policy, host, ports } = this.#deps;
    if (!policy.noteUnmoved(holder, refused)) return;
    host.log.warn('the blocks of a node cannot move to the default pool', { node: name, why: refused });
    ports.resume([uid]);
  }

  /** Undefined unless it cannot move. */
  async #move(first: PoolNodeHolder, signal: AbortSignal): Promise<string | undefined> {
    const { policy, host, isLeftAlone } = this.#deps;
    const { options, log, clock, random } = host;
    const { name, uid } = first;
    const backoff = new Backoff(retries, { clock, random });
    let holder: PoolNodeHolder | undefined = first;
    let why = '';
    while (backoff.failures < retries.tries) {
      const pool = options.ipamDefaultIpPool;
      if (holder === undefined || holder.uid !== uid || isLeftAlone(holder)) return undefined;
      const move = moveOf(holder, pool, policy.book.get(pool));
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
      const known = this.#deps.ports.known().get(name);
      if (known !== undefined) this.note(known);
    });
    return why;
  }

  /** Undefined once it is written, else why not. */
  async #write(
    { name, uid, version: resourceVersion }: PoolNodeHolder,
    draft: Parameters<typeof movePatch>[0],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { writer, ports } = this.#deps;
    const outcome = await writer.patchSpec({ name, uid, resourceVersion }, movePatch(draft), signal);
    if (outcome.kind === 'gone') return undefined;
    if (outcome.kind !== 'written') return outcome.message;
    this.#moved++;
    ports.observe(outcome.raw);
    return undefined;
  }

  async #read(name: string, signal: AbortSignal): Promise<PoolNodeHolder | undefined> {
    const { writer, ports } = this.#deps;
    const reading = await writer.get(name, signal);
    if (reading.kind === 'gone') return undefined;
    if (reading.kind !== 'found') return ports.known().get(name);
    ports.observe(reading.raw);
    return poolNodeHolder(reading.raw);
  }
}

/** Resolves once something may be written, or nothing ever will be. */
export async function permissionToWrite(
  {
    host,
    leadership,
    ports,
  }: Pick<PoolMigrationDeps, 'host' | 'leadership'> & {
    readonly ports: Pick<BlockPorts<PoolNodeHolder>, 'mayWrite'>;
  },
  signal: AbortSignal,
): Promise<'dryRun' | undefined> {
  for (;;) {
    const why = leadership.permission.refusal('allocate');
    if (why === 'dryRun') return why;
    if (why === undefined && ports.mayWrite()) return undefined;
    await sleep(host.clock, pause, signal);
  }
}
