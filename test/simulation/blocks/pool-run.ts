// A simulated life of a cluster whose nodes get blocks of pools: agents take and return blocks, administrators edit,
// delete and restore pools and objects, processes end, and requests are lost and late. At the end faults stop, and
// everything comes to rest.
import type { Random } from '../../../src/runtime/random.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import { PoolMachine } from '../../../src/simulator/workload/pool-machine.ts';
import { BlockBackups } from './block-backups.ts';
import { type BlockReport, type LifeTimes, playLife } from './block-life.ts';
import { BlockTrouble } from './block-trouble.ts';
import { BlockWorld } from './block-world.ts';
import { coveringPool, PoolChecks, wrongNetwork } from './pool-checks.ts';

const minute = 60_000;
const times: LifeTimes = {
  stormy: 8 * minute,
  sparing: 2 * minute,
  calm: 8 * minute,
  quiet: 3 * minute,
  maxPause: 10_000,
  lookInterval: 1000,
};
const poolsPath = '/apis/cilium.io/v2alpha1/ciliumpodippools';

const pools = ['default', 'blue', coveringPool] as const;
const maxMachines = 10;

/** Blocks of 64 addresses. */
function networks(ipv4: readonly string[], ipv6: readonly string[] = []): JsonObject {
  return {
    ipv4: { cidrs: ipv4, maskSize: 26 },
    ...(ipv6.length > 0 && { ipv6: { cidrs: ipv6, maskSize: 122 } }),
  };
}

/** Specs that administrators write for each pool. Each of the last two of blue has a wrong network. */
const specs: Readonly<Record<(typeof pools)[number], readonly JsonObject[]>> = {
  default: [networks(['10.0.0.0/22'], ['fd00::/118'])],
  blue: [
    networks(['10.1.0.0/24']),
    networks(['10.1.0.0/24', '10.1.1.0/24']),
    networks(['10.1.1.0/24']),
    networks([wrongNetwork, '10.0.1.0/24']),
    networks(['10.1.0.0/24', wrongNetwork, '10.0.0.0/16']),
  ],
  [coveringPool]: [networks(['10.1.0.0/16'])],
};

/** Plays one seed. */
export function playPools(seed: string): Promise<BlockReport> {
  return new PoolRun(seed).play();
}

class PoolRun {
  readonly #seed: string;
  readonly #world: BlockWorld;
  readonly #random: Random;
  readonly #regrets: Random;
  readonly #checks: PoolChecks;
  readonly #trouble: BlockTrouble;
  readonly #backups: BlockBackups;
  #joined = 0;
  #changes = 0;

  constructor(seed: string) {
    this.#seed = seed;
    const world: BlockWorld = new BlockWorld({
      seed: `pools ${seed}`,
      command: 'run',
      flags: { ipam: 'multi-pool', 'nodes-gc-interval': '1m', 'parallel-alloc-workers': '3' },
      machine: PoolMachine,
      intercept: (process, handler) =>
        this.#trouble.slowLooks(process, this.#trouble.intercept(process, handler)),
    });
    this.#world = world;
    this.#random = world.random.fork('life');
    this.#regrets = world.random.fork('regrets');
    this.#checks = new PoolChecks(world, 'run');
    this.#backups = new BlockBackups(world, this.#checks, world.random.fork('backups'));
    this.#trouble = new BlockTrouble(world, world.random.fork('trouble'), () => this.#join());
    world.onSend = (identity, request) => this.#checks.checkSender(identity, request);
    world.onWrite = (write) => {
      this.#checks.checkDeletion(write);
      this.#checks.checkWrite(write);
    };
  }

  async play(): Promise<BlockReport> {
    await this.#setPool('default');
    // Create the pools in different seconds. Of two pools created in the same second, the first by name would count.
    await this.#world.clock.advance(2000);
    await this.#setPool('blue');
    return playLife({
      seed: this.#seed,
      command: 'multi-pool',
      times,
      world: this.#world,
      checks: this.#checks,
      trouble: this.#trouble,
      random: this.#random,
      happen: () => this.#happen(),
      settle: (ms) => this.#settle(ms),
      changes: () => this.#changes,
    });
  }

  async #happen(): Promise<void> {
    const random = this.#random;
    const names = [...this.#world.machines.keys()];
    const what = random.integer(16);
    if (what < 3 || names.length < 3) {
      this.#join();
      if (random.chance(0.25)) this.#trouble.endLeaderSoon();
    } else if (what < 7) this.#changeDemand(random.pick(names));
    else if (what < 8) await this.#world.leave(random.pick(names));
    else if (what < 11) await this.#changePool();
    else if (what < 12) await this.#bringBack();
    else if (what < 13) await this.#loseSection(random.pick(names));
    else this.#trouble.disturb();
    this.#changes++;
  }

  #join(): void {
    const world = this.#world;
    for (let more = this.#random.integer(3); more >= 0 && world.machines.size < maxMachines; more--) {
      const name = `node-${this.#joined++ % 16}`;
      if (world.machines.has(name)) continue;
      world.join(name, this.#random.chance(0.3));
      this.#changeDemand(name);
      this.#changes += 2;
    }
  }

  #changeDemand(name: string): void {
    const machine = this.#world.machines.get(name);
    if (!(machine instanceof PoolMachine)) return;
    const used = pools.filter((pool) => pool !== coveringPool || this.#random.chance(0.5));
    machine.pods = new Map(used.map((pool) => [pool, this.#random.integer(150)]));
    if (machine.held.length > 1 && this.#regrets.chance(0.5)) this.#giveBackTooMuch(machine);
  }

  /**
   * Lets the agent request again what it gave back a moment ago, while its pods are still read. Another agent requests
   * it, too.
   */
  #giveBackTooMuch(machine: PoolMachine): void {
    const wanted = machine.pods;
    machine.pods = new Map([...wanted.keys()].map((pool) => [pool, 1]));
    const others = [...this.#world.machines.values()].filter((each) => each !== machine);
    const other = others.length === 0 ? undefined : this.#regrets.pick(others);
    this.#world.clock.schedule(1000 + this.#regrets.integer(7000), () => {
      machine.pods = wanted;
      if (other instanceof PoolMachine) other.pods = new Map(pools.map((pool) => [pool, 149]));
    });
    this.#changes += 3;
  }

  async #changePool(): Promise<void> {
    const what = this.#random.integer(6);
    if (what < 3) await this.#setPool('blue', this.#random.pick(specs.blue));
    else if (what < 4) await this.#world.ask('DELETE', `${poolsPath}/blue`);
    else if (what < 5) await this.#setPool(coveringPool);
    else await this.#world.ask('DELETE', `${poolsPath}/${coveringPool}`);
  }

  async #setPool(name: (typeof pools)[number], spec: JsonObject = specs[name][0] ?? {}): Promise<void> {
    const pool = { apiVersion: 'cilium.io/v2alpha1', kind: 'CiliumPodIPPool', metadata: { name }, spec };
    await this.#world.ask('POST', poolsPath, pool);
    await this.#world.ask('PATCH', `${poolsPath}/${name}`, { spec });
  }

  /** Somebody's edit drops what an agent wrote; it writes it again. A process that begins to lead in between cannot know. */
  async #loseSection(name: string): Promise<void> {
    if (!this.#trouble.isSparing || this.#world.leader === undefined) return;
    const pools = this.#random.pick([null, { allocated: [] }]);
    await this.#world.ask('PATCH', `${this.#world.path}/${name}`, { spec: { ipam: { pools } } });
  }

  async #bringBack(): Promise<void> {
    const what = this.#random.integer(8);
    if (what < 4) await this.#backups.keep();
    else if (what < 6 || this.#trouble.isSparing) await this.#backups.restoreOne();
    else {
      await this.#backups.restoreEverything();
      this.#changes += 2 * this.#world.machines.size;
    }
    for (const [name, machine] of this.#world.machines)
      if (machine instanceof PoolMachine && machine.pods.size === 0) this.#changeDemand(name);
  }

  /** Also corrects the wrong pools. */
  async #settle(ms: number): Promise<void> {
    await this.#world.ask('DELETE', `${poolsPath}/${coveringPool}`);
    await this.#setPool('blue', specs.blue[1]);
    await this.#world.clock.advance(ms);
  }
}
