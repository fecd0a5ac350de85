// The mode multi-pool: blocks of CiliumPodIPPools for each CiliumNode, as many as its agent asks for.
import { BlockLedger, maxBlocksOfHolder } from '../allocation/block-ledger.ts';
import type { LeftHoldings } from '../allocation/left-holdings.ts';
import { bySeniority } from '../allocation/service-queue.ts';
import type { WideHolding } from '../cluster-pool/first-held.ts';
import { DroppedBlocks } from '../multi-pool/dropped-blocks.ts';
import { ForgottenBlocks } from '../multi-pool/forgotten-blocks.ts';
import { PoolPolicy, type PoolPolicyEvent } from '../multi-pool/pool-policy.ts';
import { allocatedPatch, type PoolNodeHolder, poolNodeHolder } from '../multi-pool/pool-node-holder.ts';
import { type Cidr, cidrOf } from '../set/cidr.ts';
import type { AccessScope } from '../../kubernetes/access/needed-access.ts';
import { ciliumNodesPath } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { ciliumPodIpPoolDefinition } from '../../kubernetes/crd/cilium-pod-ip-pool-schema.ts';
import type { Json } from '../../kubernetes/transport/json.ts';
import { aborted, raceAbort } from '../../runtime/race-abort.ts';
import type { BlockBook } from './block-session.ts';
import { BlockMode, type BlockPorts } from './block-mode.ts';
import { CiliumNodeParts } from './cilium-node-parts.ts';
import type { ModeDeps } from '../../controller/host.ts';
import { PoolMigration } from './pool-migration.ts';
import { PoolStart } from './pool-start.ts';
import { PoolReports } from './pool-reports.ts';
import { type PoolChange, PoolsWatch } from './pools-watch.ts';

/** An agent asks for more again and again while its pods start. */
const writesInARow = 30;

export function multiPoolMode(deps: ModeDeps): BlockMode<PoolNodeHolder, readonly Json[]> {
  return new BlockMode(deps, {
    served: 'CiliumNodes',
    path: ciliumNodesPath,
    read: poolNodeHolder,
    compose: (given, ports) => new MultiPoolParts(given, ports),
  });
}

class MultiPoolParts extends CiliumNodeParts<PoolNodeHolder, readonly Json[]> {
  readonly access: AccessScope;
  override readonly watches: readonly PoolsWatch[];
  readonly #pools: PoolsWatch;
  readonly #prepared = Promise.withResolvers<void>();
  readonly #reports: PoolReports;
  readonly #ledger = new BlockLedger([]);
  /** Why the list of all pods failed that a new leader waits for. */
  #podsProblem: string | undefined;
  #policy: PoolPolicy | undefined;
  #dropped: DroppedBlocks | undefined;
  #forgotten: ForgottenBlocks | undefined;
  #migration: PoolMigration | undefined;

  constructor(deps: ModeDeps, ports: BlockPorts<PoolNodeHolder>) {
    super(deps, ports, { read: poolNodeHolder, specOf: allocatedPatch });
    const {
      nodesGcInterval,
      manageAgentTaint,
      skipCrdCreation,
      autoCreateCiliumPodIpPools,
      releasePodCheck,
    } = deps.host.options;
    this.access = {
      mode: 'multi-pool',
      gc: nodesGcInterval > 0,
      managesTaint: manageAgentTaint,
      createsDefinition: !skipCrdCreation,
      createsPools: autoCreateCiliumPodIpPools.size > 0,
      looksAtPods: releasePodCheck,
    };
    this.#reports = new PoolReports(deps);
    this.#pools = new PoolsWatch(deps, (changes) => this.#change(changes));
    this.watches = [this.#pools];
  }

  override get background(): readonly { run(signal: AbortSignal): Promise<void> }[] {
    return [...super.background, { run: (signal) => this.#watchPools(signal) }];
  }

  override get leadingProblem(): string | undefined {
    if (this.#podsProblem === undefined) return super.leadingProblem;
    return `it waits for a list of all pods: ${this.#podsProblem}`;
  }

  override async prepare(signal: AbortSignal): Promise<void> {
    await super.prepare(signal);
    await this.ensure(ciliumPodIpPoolDefinition, signal);
    this.#prepared.resolve();
  }

  /** What nodes have is held before any pool counts: a pool must not cover what they have of another one. */
  openBook(): BlockBook<PoolNodeHolder, readonly Json[]> {
    const ledger = this.#ledger;
    const { releasePodCheck } = this.deps.host.options;
    const holdings = this.openHoldings(ledger);
    const policy: PoolPolicy = new PoolPolicy(ledger, {
      ...holdings,
      looksAtPods: releasePodCheck,
      emit: (event) => this.#noteEvent(policy, event),
    });
    this.#dropped = this.#droppedBlocksOf(policy);
    if (holdings.left !== undefined) this.#forgotten = this.#forgottenBlocksOf(policy, holdings.left);
    const pools = [...this.#pools.reflector.objects].toSorted(([, a], [, b]) => bySeniority(a, b));
    this.holdFirst(ledger, 'of pools', this.#wideIn(pools));
    for (const holder of [...this.ports.known().values()].toSorted(bySeniority))
      policy.hold(holder, undefined);
    this.#policy = policy;
    policy.changePools(pools);
    return { ledger, policy, writesInARow };
  }

  #openMigration(policy: PoolPolicy): PoolMigration {
    this.#migration = new PoolMigration({
      ...this.deps,
      writer: this.writer,
      policy,
      isLeftAlone: (holder) => this.holders.isLeftAlone(holder),
      ports: this.ports,
    });
    return this.#migration;
  }

  /** What cluster-pool gave, and what takes too many blocks of these pools, or none yet. */
  #wideIn(pools: readonly PoolChange[]): readonly WideHolding[] {
    const ledger = new BlockLedger([]);
    new PoolPolicy(ledger).changePools(pools);
    const isWide = (cidr: Cidr): boolean => {
      const blocks = ledger.blocksIn(cidr).reduce((sum, each) => sum + each.blocks, 0);
      return blocks === 0 || blocks > maxBlocksOfHolder;
    };
    return [...this.ports.known().values()].flatMap(({ uid, podCidrs }) =>
      podCidrs.flatMap((text) => cidrOf(text) ?? []).flatMap((cidr) => (isWide(cidr) ? [{ uid, cidr }] : [])),
    );
  }

  #noteEvent({ book }: PoolPolicy, event: PoolPolicyEvent): void {
    switch (event.kind) {
      case 'pools':
        this.#forgotten?.notePools();
        this.#reports.tell(book, event.names);
        if (event.names.has(this.deps.host.options.ipamDefaultIpPool)) this.#migration?.noteAll();
        return;
      case 'podCidrs':
        this.#migration?.note(event.holder);
        return;
      case 'dropped':
        this.#dropped?.noteDrop(event.holder.name, event.holder.uid);
    }
  }

  #droppedBlocksOf(holdings: PoolPolicy): DroppedBlocks {
    const { clock, random, onBug } = this.deps.host;
    return new DroppedBlocks({
      pods: this.pods,
      holdings,
      reassess: this.ports.reassess,
      clock,
      random: random.fork('dropped blocks'),
      onBug,
    });
  }

  override async stop(deadline: AbortSignal): Promise<void> {
    await Promise.all([this.#dropped?.stop(deadline), this.#migration?.stop(deadline), super.stop(deadline)]);
  }

  /** Nothing is given out before the pools of the options are there and the blocks of cluster-pool have moved. */
  override async whileLeading(signal: AbortSignal): Promise<void> {
    const policy = this.#policy;
    if (policy === undefined) throw new Error('it leads without having opened its book');
    await raceAbort(this.nodes.settled, signal);
    await new PoolStart({
      ...this.deps,
      ports: this.ports,
      migration: this.#openMigration(policy),
      refreshPools: () => this.#pools.reflector.refresh(),
    }).run(signal);
    await this.#forgotten?.remember(signal);
    this.#podsProblem = undefined;
    this.#pools.open();
    this.ports.resume();
    await super.whileLeading(signal);
  }

  #forgottenBlocksOf(policy: PoolPolicy, left: LeftHoldings): ForgottenBlocks {
    const { clock, random, log } = this.deps.host;
    return new ForgottenBlocks({
      pods: this.pods,
      policy,
      left,
      uidOf: (name) => this.ports.known().get(name)?.uid,
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
    this.ports.resume(changes.length === 0 ? undefined : this.#policy?.changePools(changes));
  }

  async #watchPools(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#prepared.promise, aborted(signal)]);
    if (!signal.aborted) await this.#pools.run(signal);
  }
}
