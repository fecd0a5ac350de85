// One simulated life of a node whose pods get addresses of the product agent: pods come and go, the agent and the plugin are
// killed between any two steps, the machine reboots, the disk is full, the API server is away or late. At the end faults stop,
// everything ends, and nothing may be held.
import type { ApiAnswer } from '../../../src/agent/rest/api.ts';
import type { Family } from '../../../src/blocks/set/cidr.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { AgentChecks, type Shown } from './agent-checks.ts';
import { AddressSupplier } from './address-supplier.ts';
import { AgentMachine, type WriteFault } from './agent-machine.ts';
import { BlockSupplier } from './block-supplier.ts';
import { CniClient } from './cni-client.ts';
import { NodeCluster } from './node-cluster.ts';
import { annotatedPods, PoolSupplier } from './pool-supplier.ts';
import { type PodPool, PodRuntime } from './pod-runtime.ts';
import { RestUsers, type RestUsersOptions } from './rest-user.ts';
import type { Blocks, Supplier } from './supplier.ts';

export const agentModes = ['host-scope', 'cluster-pool', 'crd', 'multi-pool'] as const;
export type SimulatedMode = (typeof agentModes)[number];

export interface AgentReport {
  readonly violations: readonly string[];
  readonly pods: number;
  readonly faults: number;
}

const minute = 60_000;
const life = 12 * minute;
/** How long everything may take to end, in ms. */
const patience = 15 * minute;
const expiration = minute;
const never = new AbortController().signal;
const familySets: readonly (readonly Family[])[] = [['ipv4'], ['ipv6'], ['ipv4', 'ipv6'], ['ipv4', 'ipv6']];
/** Delays and faults of these. */
const watches = /watch=/;

/** Plays one seed. */
export async function playAgent(seed: string, mode: SimulatedMode): Promise<AgentReport> {
  const run = new AgentRun(new Random(`${seed} ${mode}`), mode);
  try {
    return await run.play();
  } finally {
    run.end();
  }
}

interface Surroundings {
  readonly random: Random;
  readonly clock: VirtualClock;
  readonly preAllocation: number;
}

/** Undefined with host-scope. */
function supplierOf(
  mode: SimulatedMode,
  blocks: Blocks,
  { random, clock, preAllocation }: Surroundings,
): Supplier | undefined {
  switch (mode) {
    case 'host-scope':
      return undefined;
    case 'cluster-pool':
      return new BlockSupplier(blocks);
    case 'crd':
      return new AddressSupplier(blocks, random, () => sleep(clock, random.integer(3000), never));
    case 'multi-pool':
      return new PoolSupplier({ blocks, random, preAllocation });
  }
}

/** Blocks of the node, by number. */
function drawBlocks(random: Random, families: readonly Family[]): Blocks['of'] {
  const lengths = [27 + random.integer(3), 123 + random.integer(3)] as const;
  return (index) => [
    ...(families.includes('ipv4') ? [`10.0.${index}.0/${lengths[0]}`] : []),
    ...(families.includes('ipv6') ? [`fd00:0:0:${index}::/${lengths[1]}`] : []),
  ];
}

interface PoolParts {
  readonly flags: Readonly<Record<string, string>>;
  readonly drawPool: (() => PodPool) | undefined;
  readonly defaultPool: string | undefined;
  readonly pods: RestUsersOptions['pods'];
}

/** What a world with pools has more than others. */
function poolParts(mode: SimulatedMode, random: Random, preAllocation: number): PoolParts {
  if (mode !== 'multi-pool') return { flags: {}, drawPool: undefined, defaultPool: undefined, pods: [] };
  return {
    flags: { 'ipam-multi-pool-pre-allocation': `default=${preAllocation}` },
    drawPool: () => drawPool(random),
    defaultPool: 'default',
    pods: annotatedPods.users.map((name) => ({ owner: `default/${name}`, pool: 'extra' })),
  };
}

/** How a pod gets to its pool. */
function drawPool(random: Random): PodPool {
  if (random.chance(0.6)) return { pool: 'default' };
  return random.chance(0.5)
    ? { pool: 'extra', isInConf: true }
    : { pool: 'extra', podName: random.pick(annotatedPods.runtime) };
}

class AgentRun {
  readonly #random: Random;
  readonly #clock = new VirtualClock();
  readonly #cluster: NodeCluster | undefined;
  readonly #supplier: Supplier | undefined;
  readonly #hasWholeBlocks: boolean;
  readonly #hasPools: boolean;
  readonly #machine: AgentMachine;
  readonly #client: CniClient;
  readonly #checks: AgentChecks;
  readonly #runtime: PodRuntime;
  readonly #users: RestUsers;
  #isStormy = true;
  #isOver = false;
  /** In this boot. */
  #wasReady = false;
  /** Whether an API server is still to show what pods have. */
  #isLearning = false;
  #pods = 0;
  #faults = 0;

  constructor(random: Random, mode: SimulatedMode) {
    this.#random = random;
    const clock = this.#clock;
    const families = random.pick(familySets);
    const blocks = drawBlocks(random, families);
    const preAllocation = random.fork('demand').pick([1, 2, 8]);
    const ofPools = poolParts(mode, random.fork('pools'), preAllocation);
    const surroundings = { random: random.fork('supplier'), clock, preAllocation };
    const supplier = supplierOf(mode, { families, of: blocks }, surroundings);
    const cluster = supplier && new NodeCluster({ clock, random: random.fork('cluster'), supplier });
    this.#cluster = cluster;
    this.#supplier = supplier;
    this.#hasWholeBlocks = mode === 'host-scope' || mode === 'cluster-pool';
    this.#hasPools = mode === 'multi-pool';
    const ownBlocks = new BlockSupplier({ families, of: blocks });
    const chosen: Record<string, string> = {};
    for (const block of cluster === undefined ? blocks(0) : [])
      chosen[block.includes(':') ? 'ipv6-range' : 'ipv4-range'] = block;
    // A block of one family is not enough for a pod of both.
    for (const family of families) chosen[`enable-${family}`] = 'true';
    this.#machine = new AgentMachine({
      clock,
      random: random.fork('machine'),
      flags: {
        ipam: mode,
        'ipam-expiration': '1m',
        ...ofPools.flags,
        ...chosen,
      },
      connect: cluster && ((process) => cluster.connect(process)),
    });
    const risk = (): number => (this.#isStormy ? 0.03 : 0);
    this.#client = new CniClient({ machine: this.#machine, clock, random: random.fork('client'), risk });
    this.#checks = new AgentChecks(
      (address, pool) => cluster?.supplies(address, pool) ?? ownBlocks.supplies(address),
    );
    const common = { clock, client: this.#client, checks: this.#checks, families, api: cluster };
    this.#runtime = new PodRuntime({ ...common, ...ofPools, random: random.fork('runtime') });
    this.#users = new RestUsers({ ...common, ...ofPools, random: random.fork('users'), expiration });
  }

  async play(): Promise<AgentReport> {
    const bugs: unknown[] = [];
    const begin = (what: Promise<void>): void => void what.catch((error: unknown) => bugs.push(error));
    begin(this.#cluster?.run(() => this.#isOver) ?? Promise.resolve());
    begin(this.#every(10_000, () => this.#start()));
    begin(this.#every(4000, () => this.#look()));
    begin(this.#whileStormy(5000, () => this.#arrive(begin)));
    begin(this.#whileStormy(25_000, () => this.#trouble(begin)));
    await this.#clock.advance(life);
    this.#calm();
    const isQuiet = (): boolean => this.#runtime.active + this.#users.active === 0;
    if (!(await this.#clock.runUntil(isQuiet, patience)))
      this.#checks.violations.add('the node does not come to rest');
    // Timers that nobody stopped; after a restart they may begin anew.
    await this.#clock.advance(2 * expiration + 30_000);
    await this.#rest();
    this.#isOver = true;
    const { bugs: ofAgent, failedStarts } = this.#machine;
    const problems = [...bugs, ...ofAgent].map((bug) => `a bug: ${String(bug)}`);
    return {
      violations: [
        ...this.#checks.violations,
        ...problems,
        ...failedStarts.map((problem) => `the agent does not start: ${problem}`),
      ],
      pods: this.#pods,
      faults: this.#faults,
    };
  }

  end(): void {
    this.#machine.remove();
  }

  async #rest(): Promise<void> {
    const shown = await this.#shown();
    if (shown === undefined) return void this.#checks.violations.add('the agent does not serve at rest');
    this.#checks.lookAtRest(shown, (container) => this.#runtime.forgotten.has(container));
    const collected = this.#runtime.collect();
    await this.#clock.advance(1000);
    await collected;
    const last = (await this.#shown()) ?? shown;
    this.#checks.lookAtRest(last, () => false);
    if (this.#hasWholeBlocks) this.#checks.checkAllFree(last);
    // A request that got nothing counts for 5 minutes; the agent looks once a minute whether its demand fell, and writes once in
    // 15 s.
    await this.#clock.advance(7 * minute);
    for (const problem of this.#cluster?.problemsAtRest ?? []) this.#checks.violations.add(problem);
  }

  async #look(): Promise<void> {
    this.#checks.lookAtSupply();
    this.#checks.lookAtUse(this.#cluster?.shownInUse ?? []);
    const health = await this.#client.ask('GET', '/v1/healthz');
    // Until it has read what pods show, it knows nothing.
    if (health === undefined || health.body?.includes('a damaged record') === true) return;
    const shown = await this.#shown();
    if (shown !== undefined) this.#checks.look(shown);
    this.#lookAtHealth(health);
  }

  #lookAtHealth({ status, body }: ApiAnswer): void {
    // Only blocks are in the record.
    if (status === 200) this.#wasReady = this.#hasWholeBlocks;
    else if (status === 503 && this.#wasReady)
      this.#checks.violations.add(`the agent had its blocks before, and now: ${body?.slice(-200)}`);
  }

  async #shown(): Promise<Shown | undefined> {
    const answer = await this.#client.ask('GET', '/v1/ipam');
    return answer === undefined ? undefined : (JSON.parse(answer.body ?? '') as Shown);
  }

  #arrive(begin: (what: Promise<void>) => void): void {
    for (let count = this.#random.chance(0.04) ? 12 : 1; count > 0; count--) {
      this.#pods++;
      begin(this.#random.chance(0.75) ? this.#runtime.pod() : this.#users.user());
    }
  }

  #trouble(begin: (what: Promise<void>) => void): void {
    this.#faults++;
    const machine = this.#machine;
    const kinds: readonly (() => void)[] = [
      () => machine.kill(),
      () => this.#meet('killed before'),
      () => this.#meet('killed within'),
      () => this.#meet('killed after'),
      () => this.#meet(...Array.from({ length: this.#random.integer(6) }, () => 'disk full' as const)),
      () => machine.snapshot(this.#random.chance(0.5)),
      () => machine.shiftWall(-this.#random.integer(3_600_000)),
      () => (this.#random.chance(0.4) ? this.#reboot() : machine.kill()),
      () => this.#damage(),
      () => void this.#runtime.collect(),
      () => void this.#runtime.collectNothing(),
      () => this.#troubleApi(),
      () => this.#troubleApi(),
      ...(this.#hasPools ? [() => this.#meetBlocks(begin), () => this.#meetBlocks(begin)] : []),
    ];
    this.#random.pick(kinds)();
  }

  /** The next write that gives blocks up, or takes some, is late; the agent may end meanwhile, and pods come. */
  #meetBlocks(begin: (what: Promise<void>) => void): void {
    const cluster = this.#cluster;
    if (cluster === undefined) return;
    cluster.onBlocksWritten = () => {
      cluster.isSlow = true;
      this.#later(() => (cluster.isSlow = false));
      if (this.#random.chance(0.6)) this.#machine.kill();
      this.#clock.schedule(this.#random.integer(1500), () => {
        this.#start();
        for (let count = 0; count < 8; count++) begin(this.#runtime.pod());
      });
    };
  }

  #meet(...faults: readonly WriteFault[]): void {
    this.#machine.writeFaults.push(...faults);
  }

  #reboot(): void {
    this.#machine.reboot();
    this.#runtime.reboot();
    this.#users.reboot();
    this.#wasReady = false;
  }

  #start(): void {
    if (!this.#isLearning) this.#machine.start();
  }

  /** What pods do not show is lost: what clients hold, and where nothing shows pods, the machine is restarted. */
  #damage(): void {
    if (!this.#machine.damage()) return;
    if (this.#cluster === undefined) return this.#reboot();
    this.#users.reboot();
    this.#checks.endClients();
    this.#wasReady = false;
    this.#isLearning = true;
    // Answers that are on their way arrive first.
    this.#clock.schedule(100, () => void this.#runtime.showPods().then(() => (this.#isLearning = false)));
  }

  #troubleApi(): void {
    const cluster = this.#cluster;
    if (cluster === undefined) return;
    const { faults } = cluster.model;
    const kinds: readonly (() => void)[] = [
      () => {
        cluster.isAway = true;
        this.#later(() => (cluster.isAway = false));
      },
      () => {
        cluster.isSlow = true;
        this.#later(() => (cluster.isSlow = false));
      },
      () => {
        cluster.isReliable = false;
        this.#later(() => (cluster.isReliable = true));
      },
      () =>
        this.#later(
          faults.inject({ path: watches, times: Infinity, effect: { kind: 'delayEvents', ms: 20_000 } }),
        ),
      () => void faults.cutWatches(),
      () => void (this.#hasWholeBlocks && cluster.deleteObject()),
      () => this.#supplier?.trouble(),
    ];
    this.#random.pick(kinds)();
  }

  #later(action: () => void): void {
    this.#clock.schedule(10_000 + this.#random.integer(60_000), action);
  }

  #calm(): void {
    this.#isStormy = false;
    this.#runtime.calm();
    this.#machine.writeFaults.length = 0;
    if (this.#cluster === undefined) return;
    this.#cluster.isAway = false;
    this.#cluster.isReliable = true;
    this.#cluster.isSlow = false;
    this.#cluster.onBlocksWritten = undefined;
    this.#supplier?.calm();
  }

  async #every(max: number, act: () => void | Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await sleep(this.#clock, this.#random.integer(max), never);
      if (!this.#isOver) await act();
    }
  }

  async #whileStormy(max: number, act: () => void): Promise<void> {
    while (this.#isStormy) {
      await sleep(this.#clock, this.#random.integer(max), never);
      if (this.#isStormy) act();
    }
  }
}
