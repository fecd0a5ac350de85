// The mode multi-pool: blocks of CiliumPodIPPools for each CiliumNode, as many as its agent asks for.
import { Allocator } from '../allocation/allocator.ts';
import { BlockLedger, maxBlocksOfHolder } from '../allocation/block-ledger.ts';
import type { LeftHoldings } from '../allocation/left-holdings.ts';
import { bySeniority } from '../allocation/seniority.ts';
import type { WideHolding } from '../cluster-pool/first-held.ts';
import { PodLooks } from '../cluster-pool/pod-looks.ts';
import { ForgottenBlocks } from '../multi-pool/forgotten-blocks.ts';
import { usableAddresses } from '../multi-pool/pool-definition.ts';
import { PoolPolicy, type PoolPolicyEvent } from '../multi-pool/pool-policy.ts';
import { type PoolNodeHolder, poolNodeHolder } from '../multi-pool/pool-node-holder.ts';
import { type Cidr, cidrOf } from '../set/cidr.ts';
import type { AccessScope } from '../../kubernetes/access/needed-access.ts';
import { ciliumNodesPath } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import type { CiliumPodIpPool } from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { ciliumPodIpPoolDefinition } from '../../kubernetes/crd/cilium-definitions.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { HostedMode } from './block-mode.ts';
import type { BlockSession } from './block-session.ts';
import type { BlockPlanning } from './block-status-report.ts';
import { HolderWatch } from './block-watch.ts';
import { CiliumNodeMode } from './cilium-node-mode.ts';
import { accessScope, type ModeDeps } from '../../controller/host.ts';
import { PoolMigration } from './pool-migration.ts';
import { createPool, poolToCreate } from './pool-creation.ts';
import { PoolReports } from './pool-reports.ts';
import { type PoolChange, PoolsWatch } from './pools-watch.ts';

export function multiPoolMode(deps: ModeDeps): HostedMode {
  const objects = new HolderWatch(deps, 'CiliumNodes', { path: ciliumNodesPath, transform: poolNodeHolder });
  return new HostedMode(deps, new MultiPoolMode(deps, objects));
}

class MultiPoolMode extends CiliumNodeMode {
  readonly access: AccessScope;
  readonly objects: HolderWatch<PoolNodeHolder>;
  readonly watches: readonly PoolsWatch[];
  readonly #pools: PoolsWatch;
  readonly #reports: PoolReports;
  readonly #ledger = new BlockLedger([]);
  /** Why the list of all pods failed that a new leader waits for. */
  #podsProblem: string | undefined;
  #policy: PoolPolicy | undefined;
  /** At nodes whose agents dropped blocks. */
  #looks: PodLooks | undefined;
  #forgotten: ForgottenBlocks | undefined;
  #migration: PoolMigration | undefined;
  /** Resolves as a dry run ends after the last preparation began. */
  #wentLive = Promise.withResolvers<void>();
  #dryRunsEnded = 0;
  /** How many dry runs had ended when the last preparation began. */
  #preparedAfter = 0;

  constructor(deps: ModeDeps, objects: HolderWatch<PoolNodeHolder>) {
    super(deps, objects);
    this.objects = objects;
    this.access = accessScope('multi-pool', deps.host.options);
    this.#reports = new PoolReports(deps);
    this.#pools = new PoolsWatch(deps, (changes) => this.#change(changes));
    this.watches = [this.#pools];
  }

  override get leadingProblem(): string | undefined {
    if (this.#podsProblem === undefined) return super.leadingProblem;
    return `it waits for a list of all pods: ${this.#podsProblem}`;
  }

  get wouldMove(): number {
    return this.#migration?.wouldMove ?? 0;
  }

  planning(): BlockPlanning {
    const usable = this.#ledger.totals().flatMap(({ pool, family }) => {
      const rules = this.#policy?.book.get(pool)?.definition?.[family];
      if (rules === undefined) return [];
      return [{ pool, family, addresses: usableAddresses({ family, length: rules.maskSize }, rules) }];
    });
    return { blocks: 'asAsked', usable };
  }

  override async prepare(signal: AbortSignal): Promise<void> {
    await super.prepare(signal);
    await this.ensure(ciliumPodIpPoolDefinition, signal);
  }

  /** Holds what nodes have before any pool counts: a pool must not cover what they have of another one. */
  #openPolicy(): PoolPolicy {
    const ledger = this.#ledger;
    const { releasePodCheck } = this.deps.host.options;
    const holdings = this.openHoldings(ledger);
    const policy: PoolPolicy = new PoolPolicy(ledger, {
      ...holdings,
      writer: this.holders,
      looksAtPods: releasePodCheck,
      emit: (event) => this.#noteEvent(policy, event),
    });
    policy.awaitsPools = true;
    const { clock, random, onBug } = this.deps.host;
    const ports = { clock, random: random.fork('dropped blocks'), onBug };
    this.#looks = new PodLooks(ports, this.pods, policy);
    if (holdings.left !== undefined) this.#forgotten = this.#forgottenBlocksOf(policy, holdings.left);
    const pools = [...this.#pools.reflector.objects].toSorted(([, a], [, b]) => bySeniority(a, b));
    this.holdFirst(ledger, 'of pools', this.#wideIn(pools));
    for (const holder of [...this.objects.objects.values()].toSorted(bySeniority))
      policy.hold(holder, undefined);
    this.#policy = policy;
    policy.changePools(pools);
    return policy;
  }

  /** CIDRs that cluster-pool gave and that take too many blocks of these pools, or none yet. */
  #wideIn(pools: readonly PoolChange[]): readonly WideHolding[] {
    const ledger = new BlockLedger([]);
    new PoolPolicy(ledger, { writer: this.holders }).changePools(pools);
    const isWide = (cidr: Cidr): boolean => {
      const blocks = ledger.blocksIn(cidr);
      return blocks === 0 || blocks > maxBlocksOfHolder;
    };
    return [...this.objects.objects.values()].flatMap(({ uid, podCidrs }) =>
      podCidrs.flatMap((text) => cidrOf(text) ?? []).flatMap((cidr) => (isWide(cidr) ? [{ uid, cidr }] : [])),
    );
  }

  #noteEvent({ book }: PoolPolicy, event: PoolPolicyEvent): void {
    switch (event.kind) {
      case 'pools':
        this.#forgotten?.notePools();
        this.#reports.tell(book, event.names);
        this.#migration?.noteAll(event.names);
        return;
      case 'podCidrs':
        this.#migration?.note(event.holder);
        return;
      case 'dropped':
        this.#looks?.begin(event.holder);
        return;
      case 'looked':
        this.objects.allocator?.reassess(event.holder.name);
    }
  }

  override async stop(deadline: AbortSignal): Promise<void> {
    await Promise.all([this.#looks?.stop(deadline), this.#migration?.stop(deadline), super.stop(deadline)]);
  }

  /** Nothing is given out before the pools of the options are there and the blocks of cluster-pool have moved. */
  lead(session: BlockSession, signal: AbortSignal): Promise<void> {
    const policy = this.#openPolicy();
    // Before the allocator learns that it may write.
    this.#watchDryRun();
    session.begin(this.#ledger, new Allocator(session, policy, this.holders), this.objects);
    return this.#open(policy, signal);
  }

  #watchDryRun(): void {
    const { permission } = this.deps.leadership;
    let isDry = permission.pauses.dryRun;
    permission.onChange(() => {
      const { dryRun } = permission.pauses;
      if (isDry && !dryRun) {
        this.#dryRunsEnded++;
        this.#pools.close();
        this.#migration?.close();
        this.#wentLive.resolve();
      }
      isDry = dryRun;
    });
  }

  async #open(policy: PoolPolicy, signal: AbortSignal): Promise<void> {
    await raceAbort(this.nodes.settled, signal);
    this.#migration = new PoolMigration(this.deps, this.objects, this.holders, policy);
    await this.#prepareBlocks(this.#migration, signal);
    await this.#forgotten?.remember(signal);
    this.#podsProblem = undefined;
    policy.awaitsPools = false;
    this.#beginGiving();
    await Promise.all([this.serveNodes(signal), this.#followDryRun(this.#migration, signal)]);
  }

  /** Steps that a dry run only logged are taken once it ends, before anything is given out. */
  async #followDryRun(migration: PoolMigration, signal: AbortSignal): Promise<void> {
    for (;;) {
      await raceAbort(this.#wentLive.promise, signal);
      if (signal.aborted) return;
      await this.#prepareBlocks(migration, signal);
      this.#beginGiving();
    }
  }

  /** Creates the pools of the options and moves the blocks of cluster-pool. */
  async #prepareBlocks(migration: PoolMigration, signal: AbortSignal): Promise<void> {
    const { autoCreateCiliumPodIpPools, enableClusterPoolToMultiPoolMigration } = this.deps.host.options;
    this.#preparedAfter = this.#dryRunsEnded;
    this.#wentLive = Promise.withResolvers();
    for (const [name, spec] of autoCreateCiliumPodIpPools) await createPool(this.deps, name, spec, signal);
    if (autoCreateCiliumPodIpPools.size > 0) await this.#takeInCreated();
    // A dry run that ended meanwhile is prepared for again.
    if (this.#preparedAfter !== this.#dryRunsEnded) return;
    if (enableClusterPoolToMultiPoolMigration) await migration.open(signal);
  }

  async #takeInCreated(): Promise<void> {
    await this.#pools.reflector.refresh();
    const names = [...this.deps.host.options.autoCreateCiliumPodIpPools.keys()];
    const missing = names.filter((name) => !this.#pools.reflector.objects.has(name));
    this.#change(missing.map((name) => [name, undefined]));
  }

  /** Does nothing if a dry run ended meanwhile: then it is prepared again. */
  #beginGiving(): void {
    if (this.#preparedAfter !== this.#dryRunsEnded) return;
    this.#pools.open();
    this.objects.allocator?.resume();
  }

  #forgottenBlocksOf(policy: PoolPolicy, left: LeftHoldings): ForgottenBlocks {
    const { clock, random, log } = this.deps.host;
    return new ForgottenBlocks({
      pods: this.pods,
      policy,
      left,
      objects: this.objects.objects,
      onUnreadable: ({ isDenied, problem }) => {
        if (!isDenied) this.#podsProblem = problem;
        log.warn(
          isDenied
            ? 'pods may not be read: a block that its agent dropped earlier may go to another node although pods use it'
            : 'cannot read pods: no block is given out before it is known which blocks they use',
          { problem },
        );
      },
      clock,
      random: random.fork('forgotten blocks'),
    });
  }

  override show(): void {
    super.show();
    if (this.#policy !== undefined) this.#reports.show(this.#policy, this.#ledger.totals());
  }

  #change(changes: readonly PoolChange[]): void {
    const counted = changes.map(([name, pool]) => [name, pool ?? this.#wouldCreate(name)] as const);
    this.objects.allocator?.resume(counted.length === 0 ? undefined : this.#policy?.changePools(counted));
  }

  /** Going live creates the pools of the options that are missing: a dry run counts them. */
  #wouldCreate(name: string): CiliumPodIpPool | undefined {
    const { host, leadership } = this.deps;
    const spec = host.options.autoCreateCiliumPodIpPools.get(name);
    return spec && leadership.permission.pauses.dryRun ? poolToCreate(name, spec) : undefined;
  }
}
