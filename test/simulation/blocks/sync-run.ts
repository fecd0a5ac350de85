// One simulated life of a cluster whose Nodes follow a cloud, or are brought into accord with it: machines come and go, processes end, requests to
// the API server and calls to the cloud are lost, refused and late, and the cloud fails as a whole for minutes. At the end faults
// stop, a person follows what is told, and everything comes to rest.
import { cloudAllocatorMode } from '../../../src/blocks/modes/node-modes.ts';
import { cloudSyncMode } from '../../../src/blocks/modes/node-modes.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { type AliasFate, ModelAliasCloud } from './alias-cloud.ts';
import { type BlockReport, type CloudType, type LifeTimes, playLife } from './block-life.ts';
import { BlockTrouble } from './block-trouble.ts';
import { BlockWorld } from './block-world.ts';
import { SyncChecks } from './sync-checks.ts';

const minute = 60_000;
const times: LifeTimes = {
  stormy: 8 * minute,
  sparing: 2 * minute,
  calm: 6 * minute,
  quiet: 2 * minute,
  maxPause: 10_000,
  lookInterval: 1000,
};
const maxMachines = 12;
/** How long the Node of an instance that is gone may stay with CloudAllocator, in ms. */
const maxStay = 60_000;

/** Plays one seed: half of them with each mode. */
export function playSyncs(seed: string): Promise<BlockReport> {
  return new SyncRun(seed, undefined).play();
}

/** Plays one seed with CloudAllocator. */
export function playCloudAllocator(seed: string): Promise<BlockReport> {
  return new SyncRun(seed, 'CloudAllocator').play();
}

class SyncRun {
  readonly #seed: string;
  readonly #type: CloudType;
  readonly #world: BlockWorld;
  readonly #cloud: ModelAliasCloud;
  readonly #random: Random;
  readonly #fates: Random;
  readonly #checks: SyncChecks;
  readonly #trouble: BlockTrouble;
  /** Machines that joined when no process ended any more. */
  readonly #young = new Set<string>();
  /** The cloud fails every call until then, in ms. */
  #failsUntil = 0;
  #joined = 0;
  #changes = 0;

  constructor(seed: string, type: CloudType | undefined) {
    this.#seed = seed;
    const world: BlockWorld = new BlockWorld({
      seed: `syncs ${seed}`,
      command: 'nodeipam',
      flags: {
        'cluster-cidr': '10.0.0.0/20',
        'service-cluster-ip-range': '10.0.3.0/25',
        'parallel-alloc-workers': '3',
      },
      mode: (deps) =>
        this.#type === 'CloudAllocator'
          ? cloudAllocatorMode(deps, this.#cloud.compose)
          : cloudSyncMode(deps, this.#type, this.#cloud.compose),
      providerIdOf,
      intercept: (process, handler) => this.#trouble.intercept(process, handler),
    });
    this.#world = world;
    this.#random = world.random.fork('life');
    this.#fates = world.random.fork('cloud');
    this.#type = type ?? (this.#random.chance(0.5) ? 'IPAMFromCluster' : 'IPAMFromCloud');
    this.#cloud = new ModelAliasCloud(world.clock);
    // Something else of the project has it: the cloud refuses it to Nodes.
    this.#cloud.instances.set('model:///elsewhere', ['10.0.1.0/24']);
    this.#cloud.fate = (call) => this.#fateOf(call.kind);
    this.#checks = new SyncChecks(world, this.#cloud, providerIdOf);
    this.#trouble = new BlockTrouble(world, world.random.fork('trouble'), () => this.#join());
    world.onSend = (identity, request) => this.#checks.checkSender(identity, request);
  }

  play(): Promise<BlockReport> {
    return playLife({
      seed: this.#seed,
      command: this.#type,
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
    const what = random.integer(12);
    if (what < 4 || names.length < 3) {
      this.#join();
      if (random.chance(0.25)) this.#trouble.endLeaderSoon();
    } else if (what < 6) await this.#leave(random.pick(names));
    else if (what < 7) this.#failsUntil = this.#world.clock.monotonic() + random.integer(3 * minute);
    else this.#trouble.disturb();
    this.#changes++;
  }

  #join(): void {
    const world = this.#world;
    for (let more = this.#random.integer(3); more >= 0 && world.machines.size < maxMachines; more--) {
      const name = `node-${this.#joined++}`;
      this.#cloud.instances.set(providerIdOf(name), []);
      world.join(name);
      if (world.clock.monotonic() > times.stormy - times.sparing + minute / 2) this.#young.add(name);
      if (this.#type !== 'IPAMFromCluster')
        world.clock.schedule(this.#random.integer(40_000), () => this.#route(name));
      this.#changes++;
    }
  }

  /** What is not Headwater has the cloud route a block to the instance. */
  #route(name: string): void {
    const own = this.#cloud.instances.get(providerIdOf(name));
    const routed = new Set([...this.#cloud.instances.values()].flat());
    const blocks = Array.from({ length: 16 }, (_, index) => `10.0.${index}.0/24`);
    const free = blocks.filter((block) => block !== '10.0.3.0/24' && !routed.has(block));
    own?.push(...free.slice(0, 1));
  }

  /** The machine, its Node and its instance, in any order. Another instance may have its block before its Node is gone. */
  async #leave(name: string): Promise<void> {
    if (this.#type === 'CloudAllocator' && this.#random.chance(0.5)) {
      this.#cloud.instances.delete(providerIdOf(name));
      this.#world.clock.schedule(this.#random.integer(maxStay), () => void this.#world.leave(name));
      return;
    }
    const end = (): void => void this.#cloud.instances.delete(providerIdOf(name));
    if (this.#random.chance(0.5)) end();
    else this.#world.clock.schedule(this.#random.integer(30_000), end);
    await this.#world.leave(name);
  }

  #fateOf(kind: 'add' | 'read'): AliasFate {
    if (this.#trouble.isOver) return 'ok';
    if (this.#world.clock.monotonic() < this.#failsUntil) return 'transient';
    if (this.#fates.chance(0.7)) return 'ok';
    this.#trouble.count++;
    return kind === 'read'
      ? 'transient'
      : this.#fates.pick(['transient', 'refused', 'lost', 'lostBefore', 'late'] as const);
  }

  async #settle(ms: number): Promise<void> {
    const { clock } = this.#world;
    await clock.advance(ms / 2);
    this.#followReports();
    await clock.advance(ms / 2);
  }

  /** A process that ended between the alias and the Node leaves an alias that nobody remembers: a person removes it, as told. */
  #followReports(): void {
    const { waiting = [] } = this.#world.leader?.controller.status() ?? {};
    for (const { name, reason } of waiting) {
      if (reason !== 'InvalidSyncMode' && reason !== 'AliasMissing') continue;
      if (this.#type === 'IPAMFromCluster' && this.#young.has(name))
        this.#checks.violations.add(`${name} is half done, although no process ended since it joined`);
      if (this.#type === 'IPAMFromCluster') this.#cloud.instances.set(providerIdOf(name), []);
      else this.#route(name);
    }
  }
}

function providerIdOf(name: string): string {
  return `model:///${name}`;
}
