// The modes that give blocks to nodes, as the controller runs them: watches, and a session while this process leads. Each mode
// says in a file of its own what it watches, what runs while this process leads, and what it reports.
import type { AccessScope } from '../../kubernetes/access/needed-access.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import { PendingPods } from '../../kubernetes/watch/pending-pods.ts';
import type { Reflector } from '../../kubernetes/watch/reflector.ts';
import { aborted } from '../../runtime/race-abort.ts';
import { BlockSession, type ServedBlocks } from './block-session.ts';
import {
  type BlockNodeReport,
  blockNodeReport,
  type BlockStatusReport,
  blockStatusReport,
} from './block-status-report.ts';
import type { BlockWatch, HolderWatch } from './block-watch.ts';
import { readProblemOf, silenceProblem, WatchCounters } from '../../controller/reporting/watch-counters.ts';
import { WriteHealth } from '../../controller/reporting/write-health.ts';
import type { Mode, ModeDeps } from '../../controller/host.ts';
import type { SelfFacts } from '../../controller/reporting/process-status-report.ts';

type Watched = 'figures' | 'problem' | 'refresh' | 'run' | 'silence' | 'synced';

/** A watch, whatever its objects are. */
interface ModeWatch extends Pick<BlockWatch<never>, 'isSettled' | 'resource' | 'wasListed'> {
  readonly reflector: Pick<Reflector<never>, Watched>;
}

/** A mode: what it watches, what it does while this process leads, and what it reports. */
export interface BlockMode extends ServedBlocks {
  readonly access: AccessScope;
  /** The objects that hold blocks. */
  readonly objects: ModeWatch & Pick<HolderWatch<never>, 'path' | 'served'>;
  /** Other objects that have to be known before anything is given out. */
  readonly watches?: readonly ModeWatch[];
  /** Each runs as long as the process does. */
  readonly background?: Mode<object, object>['background'];
  /** Whether everything else is known that decides what objects get. The mode resumes its allocator once it is. Default: true. */
  readonly isInformed?: boolean;
  /** Why nothing is given out although this process leads; undefined if nothing is in the way. */
  readonly leadingProblem?: string | undefined;
  /** Whether a Node of that name exists, where its agent makes the object that holds blocks. Default: no. */
  hasNode?(name: string): boolean;
  /** Resolves once its objects may be read. */
  prepare?(signal: AbortSignal): Promise<void>;
  /** Begins to serve. Resolves once nothing else has to run while this process leads, or rejects with the signal's reason. */
  lead(session: BlockSession, signal: AbortSignal): Promise<void> | undefined;
  stop?(deadline: AbortSignal): Promise<unknown>;
  /** Sets gauges of its own. */
  show?(): void;
}

const awaiting = { standing: 'awaitsAgent' } as const;

export class HostedMode implements Mode<BlockStatusReport, BlockNodeReport> {
  readonly #deps: ModeDeps;
  readonly #mode: BlockMode;
  readonly #watches: readonly ModeWatch[];
  readonly #pods: PendingPods;
  readonly #writes: WriteHealth;
  readonly #counters = new WatchCounters();
  readonly #prepared = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  #running: Promise<unknown> | undefined;
  #session: BlockSession | undefined;

  constructor(deps: ModeDeps, mode: BlockMode) {
    this.#deps = deps;
    this.#mode = mode;
    this.#watches = [mode.objects, ...(mode.watches ?? [])];
    const { clock, random, log, onBug } = deps.host;
    this.#writes = new WriteHealth(clock, this.served.slice(0, -1));
    const ports = { transport: deps.kubernetes, clock, random: random.fork('pending pods'), onBug };
    this.#pods = new PendingPods(ports, {
      onChange: () => undefined,
      onDenied: (problem) =>
        log.warn('cannot read pods: those that wait for a block are not counted', { problem }),
      onState: (state) => {
        if (state.kind !== 'denied') deps.reads.note('pods', state);
      },
    });
  }

  get served(): 'CiliumNodes' | 'Nodes' {
    return this.#mode.objects.served;
  }

  get access(): AccessScope {
    return this.#mode.access;
  }

  get count(): number {
    return this.#mode.objects.reflector.figures().objects;
  }

  get background(): readonly { run(signal: AbortSignal): Promise<void> }[] {
    const watches = this.#watches.map((watch) => ({
      run: (signal: AbortSignal) => this.#watch(watch, signal),
    }));
    return [...watches, ...(this.#mode.background ?? [])];
  }

  async prepare(signal: AbortSignal): Promise<void> {
    await this.#mode.prepare?.(signal);
    this.#prepared.resolve();
    // The leader lists everything once it has the Lease: a list before that would only double the time of a restart.
    const isListedLater = this.#deps.leadership.lease !== undefined && (await this.#isReadable(signal));
    if (isListedLater) return;
    await Promise.all(this.#watches.map(({ reflector }) => reflector.synced));
  }

  readProblem(): string | undefined {
    const now = this.#deps.host.clock.monotonic();
    return this.#ofWatches(({ reflector }) => readProblemOf(reflector.figures(), reflector.problem, now));
  }

  waitingFor(): string {
    const unsettled = this.#mode.watches?.find(({ isSettled }) => !isSettled);
    return this.readProblem() ?? `${unsettled?.resource ?? this.served} are being listed`;
  }

  async caughtUp(): Promise<void> {
    await Promise.all(this.#mode.watches?.map(({ reflector }) => reflector.refresh()) ?? []);
    return this.#mode.objects.reflector.refresh();
  }

  beginServing(): void {
    this.#session = new BlockSession(this.#deps, this.#mode, {
      isSettled: () => this.#isSettled,
      pods: this.#pods,
      writes: this.#writes,
    });
    const { signal } = this.#stopping;
    const noteBug = (error: unknown): void => {
      if (!signal.aborted) this.#deps.host.onBug(error);
    };
    const led = this.#mode.lead(this.#session, signal)?.catch(noteBug);
    this.#running = Promise.all([led, this.#pods.reflector.run(signal).catch(noteBug)]);
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#session?.stop(deadline), this.#mode.stop?.(deadline), this.#running]);
  }

  standbyProblem(): string | undefined {
    return this.#mode.objects.wasListed ? undefined : `it reads the cluster: ${this.waitingFor()}`;
  }

  leadingProblem(): string | undefined {
    return this.#mode.leadingProblem ?? this.#writes.problem();
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

  get #isSettled(): boolean {
    return this.#mode.isInformed !== false && this.#watches.every(({ isSettled }) => isSettled);
  }

  /** The first answer. */
  #ofWatches(problemOf: (watch: ModeWatch) => string | undefined): string | undefined {
    return this.#watches.map(problemOf).find((problem) => problem !== undefined);
  }

  onStandby(): void {
    // Nothing but the API server is needed, and the watch shows whether that answers.
  }

  onOptions(): void {
    // No option of blocks changes while running.
  }

  status(facts: SelfFacts, withNodes: boolean): BlockStatusReport {
    return { ...blockStatusReport(facts, this.#session?.report(), withNodes), ...this.#mode.cloud?.() };
  }

  node(name: string, facts: SelfFacts): BlockNodeReport {
    const awaitsAgent = this.#mode.hasNode?.(name) === true;
    const unserved = this.#deps.scope.unserved(name) ?? (awaitsAgent ? awaiting : undefined);
    return blockNodeReport(name, this.#session?.report(), {
      ...facts,
      unserved,
      grows: this.#mode.access.mode === 'multi-pool',
    });
  }

  show(): void {
    const { metrics } = this.#deps.host.registry;
    for (const { resource, reflector } of this.#watches)
      this.#counters.show(metrics, resource.toLowerCase(), reflector.figures());
    this.#session?.show();
    this.#mode.show?.();
  }

  async #watch({ reflector }: ModeWatch, signal: AbortSignal): Promise<void> {
    await Promise.race([this.#prepared.promise, aborted(signal)]);
    if (!signal.aborted) await reflector.run(signal);
  }

  async #isReadable(signal: AbortSignal): Promise<boolean> {
    const path = `${this.#mode.objects.path}?limit=1`;
    const reply = await ask(this.#deps.kubernetes, { method: 'GET', path }, signal);
    return reply.kind === 'ok';
  }
}
