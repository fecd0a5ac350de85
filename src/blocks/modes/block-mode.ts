// The modes that give blocks to nodes, as the controller runs them: a watch of the objects that hold blocks, and a
// session while this process leads. The composition of a mode decides the kind of objects.
import type { Holder } from '../allocation/block-holders.ts';
import { writeTimeoutOf } from '../../config/release-window.ts';
import type { AccessScope } from '../../kubernetes/access/needed-access.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import type { JsonObject } from '../../kubernetes/transport/json.ts';
import { PendingPods } from '../../kubernetes/watch/pending-pods.ts';
import { Reflector } from '../../kubernetes/watch/reflector.ts';
import { aborted } from '../../runtime/race-abort.ts';
import { type BlockBook, BlockSession, type ServedBlocks } from './block-session.ts';
import {
  type BlockNodeReport,
  blockNodeReport,
  type BlockStatusReport,
  blockStatusReport,
} from './block-status-report.ts';
import type { CloudCallReport } from '../../controller/reporting/status-report.ts';
import {
  logReflectorState,
  readProblemOf,
  silenceProblem,
  WatchCounters,
} from '../../controller/reporting/watch-counters.ts';
import { WriteHealth } from '../../controller/reporting/write-health.ts';
import type { ControllerFacts, Mode, ModeDeps } from '../../controller/host.ts';

/** A watch that a mode needs, besides its objects, before it serves anything. */
export interface PartWatch {
  /** In plural. */
  readonly resource: string;
  /** Whether everything of the last list is known. */
  readonly isSettled: boolean;
  /** Why the last attempt to read failed; undefined if it did not. */
  readonly problem: string | undefined;
  readonly reflector: Pick<Reflector<unknown>, 'figures' | 'refresh' | 'silence' | 'synced'>;
}

/** Functions that the controller offers to the parts of a mode. */
export interface BlockPorts<H extends Holder> {
  /** Applies what the API server answered to what is known. */
  readonly observe: (raw: JsonObject) => void;
  /** The objects as last read, by name. Updated in place. */
  readonly known: () => ReadonlyMap<string, H>;
  /** Serves what may be served by now. `uids`: the objects for which that may have changed. Default: all. */
  readonly resume: (uids?: Iterable<string>) => void;
  /** Decides again what an object gets, although the object did not change. */
  readonly reassess: (name: string) => void;
  /** Whether this process leads at this moment, and a write that starts now ends within its lease. */
  readonly mayWrite: () => boolean;
}

/** The parts in which modes differ. */
export interface BlockParts<H extends Holder, D>
  extends ServedBlocks<H, D>,
    Pick<Mode<BlockStatusReport, BlockNodeReport>, 'access' | 'background' | 'prepare' | 'show' | 'stop'> {
  /** Called once, when this process begins to lead. */
  openBook(): BlockBook<H, D>;
  readonly watches: readonly PartWatch[];
  /** Whether everything else is known that decides what objects get. After it turns true, `resume` is called. Default: true. */
  readonly isInformed?: boolean;
  /** Runs while this process leads, in addition to the session; rejects with the signal's reason. */
  whileLeading(signal: AbortSignal): Promise<void>;
  /** Why nothing is given out although this process leads; undefined if nothing is in the way. Default: nothing ever is. */
  readonly leadingProblem?: string | undefined;
  /** The report on the cloud whose routes are followed. */
  cloud?(): CloudCallReport;
}

export interface BlockKind<H extends Holder, D> {
  readonly served: 'CiliumNodes' | 'Nodes';
  /** The path of the collection in the API. */
  readonly path: string;
  readonly read: (raw: JsonObject) => H;
  readonly compose: (deps: ModeDeps, ports: BlockPorts<H>) => BlockParts<H, D>;
}

export class BlockMode<H extends Holder, D> implements Mode<BlockStatusReport, BlockNodeReport> {
  readonly served: BlockKind<H, D>['served'];
  readonly #deps: ModeDeps;
  readonly #parts: BlockParts<H, D>;
  readonly #reflector: Reflector<H>;
  readonly #pods: PendingPods;
  readonly #writes: WriteHealth;
  readonly #counters = new WatchCounters();
  readonly #prepared = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  #running: Promise<unknown> | undefined;
  /** Why the last attempt to read failed. Cleared only by a success. */
  #problem: string | undefined;
  readonly #path: string;
  /** Whether there was a list. */
  #isListed = false;
  /** Whether all objects of the last list are known. */
  #isSettled = false;
  #session: BlockSession<H, D> | undefined;

  constructor(deps: ModeDeps, kind: BlockKind<H, D>) {
    this.#deps = deps;
    this.served = kind.served;
    this.#path = kind.path;
    const { clock, random, log, onBug } = deps.host;
    this.#writes = new WriteHealth(clock, kind.served.slice(0, -1));
    const resource = kind.served.toLowerCase();
    this.#reflector = new Reflector<H>({
      transport: deps.kubernetes,
      clock,
      random: random.fork('cache'),
      path: kind.path,
      verifyEmptyLists: true,
      transform: kind.read,
      onChange: ({ type, key, object }) =>
        this.#session?.allocator.apply(key, type === 'deleted' ? undefined : object),
      // An object late in a list that shows a block must have it before an object early in it gets one.
      onList: (phase) => {
        this.#isSettled = phase === 'end';
        this.#isListed ||= this.#isSettled;
        if (this.#isSettled) this.#session?.allocator.resume();
      },
      onState: (state) => {
        if ('problem' in state) this.#problem = state.problem;
        if (state.kind === 'watching') this.#problem = undefined;
        logReflectorState(log, resource, state);
      },
      onBug,
    });
    this.#pods = new PendingPods({
      transport: deps.kubernetes,
      clock,
      random: random.fork('pending pods'),
      onChange: () => undefined,
      onDenied: (problem) =>
        log.warn('cannot read pods: those that wait for a block are not counted', { problem }),
      onState: (state) => {
        if (state.kind !== 'denied') logReflectorState(log, 'pods', state);
      },
      onBug,
    });
    this.#parts = kind.compose(deps, {
      observe: (raw) => this.#reflector.observe(raw),
      resume: (uids) => this.#session?.allocator.resume(uids),
      reassess: (name) => this.#session?.allocator.reassess(name),
      known: () => this.#reflector.objects,
      mayWrite: () => this.#mayWrite(),
    });
  }

  get access(): AccessScope {
    return this.#parts.access;
  }

  get count(): number {
    return this.#reflector.objects.size;
  }

  get background(): readonly { run(signal: AbortSignal): Promise<void> }[] {
    return [{ run: (signal) => this.#watch(signal) }, ...this.#parts.background];
  }

  async prepare(signal: AbortSignal): Promise<void> {
    await this.#parts.prepare(signal);
    this.#prepared.resolve();
    // The leader lists everything once it has the Lease: a list before that would only double the time of a restart.
    const isListedLater = this.#deps.leadership.lease !== undefined && (await this.#isReadable(signal));
    if (isListedLater) return;
    await Promise.all([this.#reflector, ...this.#watched].map(({ synced }) => synced));
  }

  readProblem(): string | undefined {
    const now = this.#deps.host.clock.monotonic();
    const all = [{ reflector: this.#reflector, problem: this.#problem }, ...this.#parts.watches];
    return all
      .map(({ reflector, problem }) => readProblemOf(reflector.figures(), problem, now))
      .find((problem) => problem !== undefined);
  }

  waitingFor(): string {
    const unsettled = this.#parts.watches.find(({ isSettled }) => !isSettled);
    return this.readProblem() ?? `${unsettled?.resource ?? this.served} are being listed`;
  }

  async caughtUp(): Promise<void> {
    await Promise.all(this.#watched.map((each) => each.refresh()));
    return this.#reflector.refresh();
  }

  beginServing(): void {
    this.#session = new BlockSession({
      ...this.#deps,
      book: this.#parts.openBook(),
      served: this.#parts,
      isSettled: () =>
        this.#isSettled &&
        this.#parts.isInformed !== false &&
        this.#parts.watches.every(({ isSettled }) => isSettled),
      pods: this.#pods,
      writing: {
        mayStart: () => this.#mayWrite(),
        timeLimit: writeTimeoutOf(this.#deps.host.options),
        health: this.#writes,
      },
    });
    this.#session.beginAllocating(this.#reflector.objects.values());
    const { signal } = this.#stopping;
    const running = [this.#parts.whileLeading(signal), this.#pods.reflector.run(signal)].map((each) =>
      each.catch((error: unknown) => {
        if (!signal.aborted) this.#deps.host.onBug(error);
      }),
    );
    this.#running = Promise.all(running);
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#session?.stop(deadline), this.#parts.stop(deadline), this.#running]);
  }

  standbyProblem(): string | undefined {
    return this.#isListed ? undefined : `it reads the cluster: ${this.waitingFor()}`;
  }

  leadingProblem(): string | undefined {
    return this.#parts.leadingProblem ?? this.#writes.problem();
  }

  problem(): string | undefined {
    return this.#ofWatches(({ resource, reflector }) =>
      silenceProblem(reflector.figures(), this.#deps.host.clock.monotonic(), resource),
    );
  }

  silence(): string | undefined {
    return this.#ofWatches(({ resource, reflector }) => {
      const silence = reflector.silence();
      if (silence === undefined) return undefined;
      return `it hears nothing of ${resource.toLowerCase()} from the API server, for ${Math.round(silence / 1000)} s now`;
    });
  }

  get #watched(): readonly PartWatch['reflector'][] {
    return this.#parts.watches.map(({ reflector }) => reflector);
  }

  /** The first answer. */
  #ofWatches(
    problemOf: (watch: Pick<PartWatch, 'resource' | 'reflector'>) => string | undefined,
  ): string | undefined {
    const all = [{ resource: this.served, reflector: this.#reflector }, ...this.#parts.watches];
    return all.map(problemOf).find((problem) => problem !== undefined);
  }

  onStandby(): void {
    // Nothing but the API server is needed, and the watch shows whether that answers.
  }

  onOptions(): void {
    // No option of blocks changes while running.
  }

  status(facts: ControllerFacts): BlockStatusReport {
    return { ...blockStatusReport(facts, this.#session?.report()), ...this.#parts.cloud?.() };
  }

  node(name: string, facts: ControllerFacts): BlockNodeReport {
    return blockNodeReport(name, this.#session?.report(), facts);
  }

  show(): void {
    const { metrics } = this.#deps.host.registry;
    for (const { resource, reflector } of [
      { resource: this.served, reflector: this.#reflector },
      ...this.#parts.watches,
    ])
      this.#counters.show(metrics, resource.toLowerCase(), reflector.figures());
    this.#session?.show();
    this.#parts.show();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#prepared.promise, aborted(signal)]);
    if (!signal.aborted) await this.#reflector.run(signal);
  }

  async #isReadable(signal: AbortSignal): Promise<boolean> {
    const { kubernetes } = this.#deps;
    const reply = await ask(kubernetes, { method: 'GET', path: `${this.#path}?limit=1` }, signal);
    return reply.kind === 'ok';
  }

  #mayWrite(): boolean {
    const { options, clock } = this.#deps.host;
    const { lease, leads } = this.#deps.leadership;
    if (lease === undefined) return leads();
    const end = lease.leaseEnd();
    const ms = writeTimeoutOf(options);
    return end !== undefined && clock.monotonic() + ms < end.monotonic && clock.wall() + ms < end.wall;
  }
}
